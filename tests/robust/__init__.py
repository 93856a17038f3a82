"""Tests with hostile inputs and conditions: random bytes, names that look like code, kills, random calls."""
