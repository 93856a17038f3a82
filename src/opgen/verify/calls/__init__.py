"""Calls as plain data, and how they are drawn, changed and printed."""
