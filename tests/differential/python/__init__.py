"""Our library called from Python, compared with PyTorch."""
