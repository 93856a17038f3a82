"""Draw calls of operators from their schemas: for opgen.gradtest and opgen.verify."""
