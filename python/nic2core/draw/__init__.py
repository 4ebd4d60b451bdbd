"""Runs as plots."""
