"""Read operator names from lists, traces and printed registrations."""
