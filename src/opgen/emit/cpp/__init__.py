"""Operators, functions, registration and the build file of the C++ library."""
