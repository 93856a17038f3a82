"""Read the registrations of Python sources."""
