"""Parts that several kinds of generated files share: the context of a run, kernels, callables, layout, shards."""
