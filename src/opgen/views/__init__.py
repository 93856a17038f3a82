"""A Registry and a target into frozen FileViews: one builder per kind of output file."""
