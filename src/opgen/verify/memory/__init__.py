"""Memory that is watched: blocks for the arguments of calls, and a guard around the memory that kernels allocate."""
