"""Codes E0811 and E0812: kernels of an external backend as C++ functions."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_FILE = "backend.yaml"
_HEAD = "backend: XLA\ncpp_namespace: torch_xla\n"

E0811 = Code(
    "E0811",
    "two kernels of a backend that C++ cannot tell apart",
    "The kernel of an operator is a static member function with the operator's name, without the overload. "
    "Overloads with the same C++ parameter types and different results cannot be members of one class. Rename "
    "one of the operators.",
    Example(_HEAD + "supported:\n- twin.one\n- twin.two\n", _HEAD + "supported:\n- twin.one\n"),
    (),
    _FILE,
)
E0812 = Code(
    "E0812",
    "a kernel of a backend is not implemented",
    "The file given by --impl-path must define every kernel of the backend's class, as many times as the file "
    "lists operators of that name. opgen counts a definition wherever the class name, '::' and the kernel's name "
    "come before a '('. If another '::' comes before the class name, it is a call and does not count.",
    Example(_HEAD + "supported:\n- abs\n", _HEAD + "supported:\n- neg\n"),
    ("B19",),
    _FILE,
)

CODES = (E0811, E0812)
