"""The report: one HTML file that shows one run or compares several, and works offline."""

from nic2core.report.page import notebook_html, write_report
from nic2core.report.sensitivity import write_sensitivity

__all__ = ["notebook_html", "write_report", "write_sensitivity"]
