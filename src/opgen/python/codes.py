"""Codes E076x: operators for which no Python binding can be generated."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

# `opgen lint --python` reads the examples.
FILE = "python.yaml"

_FOO = "- func: foo(Tensor self) -> Tensor\n"

E0760 = Code(
    "E0760",
    "an argument is named requires_grad",
    "Python adds an argument of this name to every function that creates tensors, so a schema cannot have one. "
    "Give the argument another name.",
    Example(
        "- func: foo(Tensor self, bool requires_grad=True) -> Tensor\n",
        "- func: foo(Tensor self, bool with_grad=True) -> Tensor\n",
    ),
    ("V180",),
    file=FILE,
)
E0761 = Code(
    "E0761",
    "only some returns have names",
    "Several returns become a named tuple if they have names, and a plain tuple if they do not. Name all of "
    "them, or none.",
    Example(
        "- func: foo(Tensor self) -> (Tensor x, Tensor)\n",
        "- func: foo(Tensor self) -> (Tensor x, Tensor y)\n",
    ),
    ("V181",),
    file=FILE,
)
E0762 = Code(
    "E0762",
    "a return that Python bindings cannot represent",
    "Python bindings can return single values, up to six tensors, lists of tensors, and a few tuples that "
    "PyTorch's operators return. Return tensors, or fewer values.",
    Example(
        "- func: foo(Tensor self) -> (int, int)\n", "- func: foo(Tensor self) -> (Tensor, Tensor)\n"
    ),
    ("V182",),
    file=FILE,
)
E0763 = Code(
    "E0763",
    "an argument type that Python bindings do not support",
    "Python's argument parser supports tensors, numbers, sizes, strings and most enumerations, lists of int, "
    "SymInt, float, Scalar and Tensor, lists of bool with a length, as in bool[3], and optional forms of all of these. "
    "Use one of these types.",
    Example(
        "- func: foo(Tensor self, QScheme x) -> Tensor\n",
        "- func: foo(Tensor self, int x) -> Tensor\n",
    ),
    ("V183",),
    file=FILE,
)
E0764 = Code(
    "E0764",
    "an out variant without a matching operator",
    "Python joins an operator and its out variant into one function with an optional argument `out`. So there "
    "must be an operator of the same name with the same arguments, defaults and keyword-only arguments, apart "
    "from the out arguments.",
    Example(
        "- func: foo(Tensor self, int n) -> Tensor\n\n"
        "- func: foo.out(Tensor self, int m, *, Tensor(a!) out) -> Tensor(a!)\n",
        f"{_FOO}\n- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    ),
    ("V184",),
    file=FILE,
)
E0765 = Code(
    "E0765",
    "two operators with the same Python signature",
    "Python tells overloads apart only by their arguments, not by what they return or write. Give one operator "
    "another name, or other arguments.",
    Example(
        "- func: foo.a(Tensor self, Tensor x) -> Tensor\n\n"
        "- func: foo.b(Tensor self, Tensor(a!) x) -> Tensor\n",
        f"{_FOO}\n- func: foo.b(Tensor self, int x) -> Tensor\n",
    ),
    ("V185",),
    file=FILE,
)

E0766 = Code(
    "E0766",
    "an invalid Python module",
    "A submodule is one attribute of the package, with a stub file of its own. So its name has no dots, and is "
    "not the name of anything else in the package: a class, a dtype, a function without 'python_module', or a "
    "file.",
    Example(f"{_FOO}  python_module: return_types\n", f"{_FOO}  python_module: nn\n"),
    file=FILE,
)

CODES = (E0760, E0761, E0762, E0763, E0764, E0765, E0766)
