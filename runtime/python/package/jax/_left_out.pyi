# The module itself is generated: templates/runtime/left_out.py.j2.

LEFT_OUT: dict[str, str]
