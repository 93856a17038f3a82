"""Codes E0801 to E0805 and W1801: errors in a backend YAML that need no knowledge of the operators.

The examples are read together with an operator library that has add, neg and reshape, see tests/golden/errors.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

FILE = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"
GOOD = _HEAD + "supported:\n- neg\n"

E0801 = Code(
    "E0801",
    "a backend file is not a mapping",
    "A backend file is one mapping. It has 'backend' and 'cpp_namespace', and the lists 'supported' and "
    "'autograd' of the operators for which the backend has kernels.",
    Example("- neg\n", GOOD),
    ("B01",),
    FILE,
)
E0802 = Code(
    "E0802",
    "an unknown key of a backend file",
    "A backend file has the keys backend, cpp_namespace, class_name, supported, autograd, symint, "
    "use_out_as_primary and device_guard. opgen adds structured, structured_own_meta, structured_installed, "
    "out_as_primary and cpu_fallback. Lazy backends have full_codegen, non_native and ir_gen. A misspelt key "
    "would have no effect.",
    Example(GOOD + "extra_headers: []\n", GOOD),
    ("B10", "BC5"),
    FILE,
)
E0803 = Code(
    "E0803",
    "a backend file lacks a key",
    "'backend' is the dispatch key, and 'cpp_namespace' is the C++ namespace of the class with the kernels. "
    "opgen needs both to generate anything.",
    Example("cpp_namespace: torch_xla\nsupported:\n- neg\n", GOOD),
    ("B02", "B03"),
    FILE,
)
E0804 = Code(
    "E0804",
    "a value of the wrong type in a backend file",
    "'supported', 'autograd', 'symint', 'structured' and the other lists contain operator names; "
    "'use_out_as_primary', 'device_guard' and 'cpu_fallback' are true or false; all other values are strings. "
    "YAML reads an unquoted 'on' or 'true' as a boolean; put it in quotes to get a string.",
    Example(_HEAD + "supported: neg\n", GOOD),
    ("B04", "B05", "B06", "B07", "B08", "BC1", "BC2", "BC3", "BC4", "BA3"),
    FILE,
)
E0805 = Code(
    "E0805",
    "a name that is not valid in C++",
    "'cpp_namespace' is one name, or two separated by '::'; 'class_name' is one name. opgen copies them into C++ "
    "code, so each must be a C++ identifier and not a keyword.",
    Example("backend: XLA\ncpp_namespace: a::b::c\nsupported:\n- neg\n", GOOD),
    ("B18", "BA1", "BA2"),
    FILE,
)
W1801 = Code(
    "W1801",
    "a key of lazy backends",
    "full_codegen, ir_gen and non_native describe the IR nodes of a lazy backend, which opgen does not generate. "
    "opgen treats operators under 'full_codegen' like those under 'supported': it declares their kernels, and "
    "you write them. The other two keys have no effect.",
    Example(GOOD + "full_codegen:\n- add.Tensor\n", GOOD + "- add.Tensor\n"),
    (),
    FILE,
)

CODES = (E0801, E0802, E0803, E0804, E0805, W1801)
