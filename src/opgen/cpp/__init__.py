"""Translate schemas to C++ signatures: types, names, defaults, and conversions between signatures."""
