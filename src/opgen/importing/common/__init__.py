"""Values and rules that all readers of registrations share."""
