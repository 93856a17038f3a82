"""Read and write files without losing any, and record which files opgen wrote."""
