"""Parse the entries of a schema file, and its first item, the header."""
