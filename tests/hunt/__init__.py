"""Machines that hunt: drawn calls, sequences, threads and failing allocations against our package of Python, under
sanitizers. They know schemas and nothing of kernels; `python tests/hunt --help` runs them by hand.
"""
