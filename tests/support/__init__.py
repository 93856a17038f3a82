"""Shared by several test folders: the compiled runtime, compilers, generated trees."""
