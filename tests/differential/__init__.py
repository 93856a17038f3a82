"""Tests that compare opgen with another implementation: torchgen, PyTorch, NumPy."""
