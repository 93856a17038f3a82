"""For all tests: the folder of this file is importable, so that they can say `from support import build`."""
