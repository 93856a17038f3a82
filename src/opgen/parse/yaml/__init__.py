"""Read YAML text as nodes that know their positions in the source."""
