"""Runs described in words and rows: verdicts, warnings and differences."""
