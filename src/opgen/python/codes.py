"""The records of E076x: operators for which no Python binding can be made."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

# An example is what `opgen lint --python` reads.
FILE = "python.yaml"

_FOO = "- func: foo(Tensor self) -> Tensor\n"

E0760 = Code(
    "E0760",
    "an argument is called requires_grad",
    "Python adds an argument of this name to every function that makes tensors, so a schema cannot have "
    "one. Give the argument another name.",
    "- func: foo(Tensor self, bool requires_grad=True) -> Tensor\n",
    "- func: foo(Tensor self, bool with_grad=True) -> Tensor\n",
    ("V180",),
    file=FILE,
)
E0761 = Code(
    "E0761",
    "some of the returns have a name, and others do not",
    "Several returns become a named tuple if they have names, and a plain one if they have none. Name "
    "all of them, or none.",
    "- func: foo(Tensor self) -> (Tensor x, Tensor)\n",
    "- func: foo(Tensor self) -> (Tensor x, Tensor y)\n",
    ("V181",),
    file=FILE,
)
E0762 = Code(
    "E0762",
    "what is returned cannot be given to Python",
    "Python bindings can wrap single values, up to six tensors, lists of tensors, and a few tuples that "
    "PyTorch's operators return. Return tensors, or fewer values.",
    "- func: foo(Tensor self) -> (int, int)\n",
    "- func: foo(Tensor self) -> (Tensor, Tensor)\n",
    ("V182",),
    file=FILE,
)
E0763 = Code(
    "E0763",
    "Python's argument parser has no such type",
    "The parser of arguments knows tensors, numbers, sizes, strings and most enumerations, lists of "
    "int, SymInt, float, Scalar and Tensor, and each of these as optional. Use one of these.",
    "- func: foo(Tensor self, QScheme x) -> Tensor\n",
    "- func: foo(Tensor self, int x) -> Tensor\n",
    ("V183",),
    file=FILE,
)
E0764 = Code(
    "E0764",
    "an out variant has no operator that it is the out variant of",
    "To Python both are one function with an optional argument `out`, so there must be an operator of "
    "this name with the same arguments, defaults and keyword-only arguments, but for the out arguments.",
    "- func: foo(Tensor self, int n) -> Tensor\n\n"
    "- func: foo.out(Tensor self, int m, *, Tensor(a!) out) -> Tensor(a!)\n",
    f"{_FOO}\n- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    ("V184",),
    file=FILE,
)
E0765 = Code(
    "E0765",
    "two operators have one Python signature",
    "Overloads are told apart by their arguments alone, not by what they return or write. Give one operator "
    "another name, or other arguments.",
    "- func: foo.a(Tensor self, Tensor x) -> Tensor\n\n"
    "- func: foo.b(Tensor self, Tensor(a!) x) -> Tensor\n",
    f"{_FOO}\n- func: foo.b(Tensor self, int x) -> Tensor\n",
    ("V185",),
    file=FILE,
)

E0766 = Code(
    "E0766",
    "a Python module that cannot be made",
    "A submodule is one attribute of the package, with a stub of its own. So it has one name, without dots, and not "
    "that of something else in the package: a class, a dtype, a function without 'python_module', or a file.",
    f"{_FOO}  python_module: return_types\n",
    f"{_FOO}  python_module: nn\n",
    file=FILE,
)

CODES = (E0760, E0761, E0762, E0763, E0764, E0765, E0766)
