"""The schema language as frozen values: what operators are, not how they are spelled in C++."""
