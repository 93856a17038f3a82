"""Declarations that kernel authors implement, and the stubs that run until these are written."""
