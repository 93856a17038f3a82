"""Every operator of native_functions.yaml, called through the boxed C interface and compared with PyTorch and NumPy."""
