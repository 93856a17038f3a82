"""Our library from Python, beside PyTorch."""
