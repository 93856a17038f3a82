"""Print values with the templates."""
