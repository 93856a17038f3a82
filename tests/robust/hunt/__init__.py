"""Hunts for defects: random calls, sequences of calls, threads and failing allocations, with our Python package under
sanitizers. They know schemas and no kernels; `python tests/robust/hunt --help` runs them by hand.
"""
