"""Parse the text of a schema."""
