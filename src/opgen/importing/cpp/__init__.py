"""Read the registrations of C++ sources."""
