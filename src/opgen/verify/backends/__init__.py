"""The kinds of tensors whose operators are verified: PyTorch's, and those of packages of target runtime."""
