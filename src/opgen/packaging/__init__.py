"""Plug-ins for the tools that build packages."""
