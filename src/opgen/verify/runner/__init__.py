"""Processes: one that hands out operators, some that have loaded the library, and one for each operator."""
