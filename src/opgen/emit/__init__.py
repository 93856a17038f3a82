"""Build the values that templates print: one builder for each kind of generated file, from the registry and the target."""
