"""Derive the gradients of operators from their formulas in derivatives.yaml."""
