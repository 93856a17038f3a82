"""Read existing registrations in C++, Python or a loaded library as values, from which YAML is written."""
