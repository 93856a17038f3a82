"""Build Python signatures of operators, for the argument parser and for type stubs."""
