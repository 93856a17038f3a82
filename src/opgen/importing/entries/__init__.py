"""Merge registrations into the entries of a schema file."""
