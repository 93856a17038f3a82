"""Operators as Python sees them: signatures for the argument parser and for type stubs."""
