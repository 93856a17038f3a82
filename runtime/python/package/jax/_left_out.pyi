# The module itself is generated: templates/runtime/left_out.py.j2.

NAMESPACES: list[str]
LEFT_OUT: dict[str, str]
