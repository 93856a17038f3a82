"""The records of E0811 and E0812: kernels of an external backend as C++ functions."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

_FILE = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"

E0811 = Code(
    "E0811",
    "two kernels of a backend that C++ cannot tell apart",
    "The kernel of an operator is a static member function with the operator's name without the overload. "
    "Overloads that have the same C++ parameter types and different results cannot be members of one "
    "class. Rename one of the operators.",
    _HEAD + "supported:\n- twin.one\n- twin.two\n",
    _HEAD + "supported:\n- twin.one\n",
    (),
    _FILE,
)
E0812 = Code(
    "E0812",
    "a kernel of a backend is not implemented",
    "The file given by --impl-path has to define every kernel of the backend's class, each as often as "
    "operators are listed that share its name. What counts as a definition is the name of the class with "
    "'::' and the kernel's name before a '(', unless another '::' stands before the class: that is a "
    "call.",
    _HEAD + "supported:\n- abs\n",
    _HEAD + "supported:\n- neg\n",
    ("B19",),
    _FILE,
)

CODES = (E0811, E0812)
