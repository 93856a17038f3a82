"""What the Python package of a torch-stable library registers with PyTorch."""
