"""Parse YAML files and schemas as values of `opgen.model`. Errors are reported to a collector, never raised."""
