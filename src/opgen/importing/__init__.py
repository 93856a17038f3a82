"""Registrations that are already there, in C++, Python or a loaded library, as values that YAML is written from."""
