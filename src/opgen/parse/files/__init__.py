"""Parse whole files, one module for each kind of file."""
