"""Comparisons: every backend and encoding on many cases, and what the results say."""
