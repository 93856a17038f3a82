"""Python beside the operators of mylib: the package imports it once their library is loaded.

Names in __all__ are names of the package, too.
"""

__all__: list[str] = []
