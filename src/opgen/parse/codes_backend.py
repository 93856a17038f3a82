"""The records of E0801 to E0804: what can be wrong with a backend YAML before its names are looked up.

The examples are read beside an operator library that has add, neg and reshape, see tests/errors.
"""

from __future__ import annotations

from opgen.diagnostics.codes import Code

FILE = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"
GOOD = _HEAD + "supported:\n- neg\n"

E0801 = Code(
    "E0801",
    "a backend file is not a mapping",
    "A backend file is one mapping: 'backend' and 'cpp_namespace', and the lists 'supported' and "
    "'autograd' of the operators that the backend has kernels for.",
    "- neg\n",
    GOOD,
    ("B01",),
    FILE,
)
E0802 = Code(
    "E0802",
    "an unknown key of a backend file",
    "A backend file has the keys backend, cpp_namespace, class_name, supported, autograd, symint, "
    "use_out_as_primary and device_guard; opgen's own are structured, structured_own_meta, "
    "structured_installed, out_as_primary and cpu_fallback; full_codegen, non_native and ir_gen are those of lazy "
    "backends. A misspelt one would do nothing.",
    GOOD + "extra_headers: []\n",
    GOOD,
    ("B10", "BC5"),
    FILE,
)
E0803 = Code(
    "E0803",
    "a backend file lacks a key",
    "'backend' names the dispatch key, 'cpp_namespace' the C++ namespace of the class with the kernels. "
    "Nothing can be generated without either.",
    "cpp_namespace: torch_xla\nsupported:\n- neg\n",
    GOOD,
    ("B02", "B03"),
    FILE,
)
E0804 = Code(
    "E0804",
    "a value of the wrong type in a backend file",
    "'supported', 'autograd', 'symint', 'structured' and the other lists hold operator names; "
    "'use_out_as_primary', 'device_guard' and 'cpu_fallback' are true or false; the others are texts. YAML takes an "
    "unquoted 'on' or 'true' for a truth value; quotes make it a text.",
    _HEAD + "supported: neg\n",
    GOOD,
    ("B04", "B05", "B06", "B07", "B08", "BC1", "BC2", "BC3", "BC4", "BA3"),
    FILE,
)
E0805 = Code(
    "E0805",
    "a name that C++ does not take",
    "'cpp_namespace' is one name or two with '::' between them, 'class_name' is one name. They are "
    "written into C++ as they are, so each has to be an identifier and no keyword.",
    "backend: XLA\ncpp_namespace: a::b::c\nsupported:\n- neg\n",
    GOOD,
    ("B18", "BA1", "BA2"),
    FILE,
)
W1801 = Code(
    "W1801",
    "a key of lazy backends",
    "full_codegen, ir_gen and non_native describe the IR nodes of a lazy backend, which opgen does not "
    "generate. The operators under 'full_codegen' are treated as those under 'supported': their kernels "
    "are declared, and written by you. The other two keys do nothing.",
    GOOD + "full_codegen:\n- add.Tensor\n",
    GOOD + "- add.Tensor\n",
    (),
    FILE,
)

CODES = (E0801, E0802, E0803, E0804, E0805, W1801)
