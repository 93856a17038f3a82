"""Schemas into C++ signatures: types, names, defaults, and conversions between signatures."""
