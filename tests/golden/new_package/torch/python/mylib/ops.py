"""Python code for the operators of mylib: the package imports it after loading their library.

Names in __all__ become names of the package.
"""

__all__: list[str] = []
