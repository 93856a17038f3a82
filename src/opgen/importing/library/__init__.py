"""Read the registrations of libraries that PyTorch loads."""
