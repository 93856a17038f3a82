"""Reports that print what opgen derived: dump, explain, coverage, JSON schema, selection list."""
