"""What several test folders share: the compiled runtime, compilers, generated trees."""
