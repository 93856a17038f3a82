"""The records of E04xx: entries that contradict each other."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

E0401 = Code(
    "E0401",
    "an operator is defined twice",
    "Every operator has a name of its own: its name with its overload, without its namespace. Give one of "
    "the two an overload, or another one.",
    """\
- func: foo(Tensor self) -> Tensor
- func: foo(Tensor self, int dim) -> Tensor
""",
    """\
- func: foo(Tensor self) -> Tensor
- func: foo.dim(Tensor self, int dim) -> Tensor
""",
    ("V112", "A12"),
)
E0402 = Code(
    "E0402",
    "'structured_delegate' names no operator",
    "A functional or in-place variant of a structured operator names the out variant that holds the "
    "kernels. There is no entry of this name.",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.uot
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
""",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
""",
    ("V113",),
)
E0403 = Code(
    "E0403",
    "'structured_delegate' names an operator that is not structured",
    "The out variant that is delegated to must say 'structured: True': only then is its kernel made to serve "
    "the other variants. Or remove 'structured_delegate' and write a kernel for each variant.",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: foo_out
""",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
""",
    ("V114",),
)
E0404 = Code(
    "E0404",
    "an argument is called like a Python keyword",
    "Operators are called from Python with their arguments' names, and a keyword cannot be written there. Some "
    "old operators of PyTorch are exempt.",
    "- func: foo(Tensor self, int lambda) -> Tensor\n",
    "- func: foo(Tensor self, int lambd) -> Tensor\n",
    ("V115",),
    of_torchgen=True,
)
E0405 = Code(
    "E0405",
    "the tag 'inplace_view' on an operator that is not in-place by name",
    "The tag says that an operator changes sizes, strides or offset of self itself. Such an operator is an "
    "in-place one, so its name ends in '_'. resize_, resize_as_ and set_ are exempt from the rules for views.",
    """\
- func: foo(Tensor self) -> Tensor
  tags: inplace_view
""",
    """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    ("V116",),
    of_torchgen=True,
)
E0406 = Code(
    "E0406",
    "the tag 'inplace_view' without an operator that views",
    "What changes the view of self in place has a sibling of the same name without '_' that returns such a "
    "view. There is none.",
    """\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    ("V117",),
    of_torchgen=True,
)
E0407 = Code(
    "E0407",
    "the tag 'generated' on an entry",
    "The tag marks the variants that opgen generates because 'autogen' asks for them. What is written is not "
    "generated: remove the tag.",
    """\
- func: foo(Tensor self) -> Tensor
  tags: generated
""",
    "- func: foo(Tensor self) -> Tensor\n",
    ("V135", "C27"),
)
E0408 = Code(
    "E0408",
    "delegates to an out variant of another signature",
    "An operator and the out variant that it delegates to have the same arguments: names, types and defaults. "
    "These two differ, so they are no variants of one operator, and the kernels of the out variant cannot serve.",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
- func: foo.dim(Tensor self, int dim) -> Tensor
  structured_delegate: foo.out
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
""",
    """\
- func: foo(Tensor self) -> Tensor
  structured_delegate: foo.out
- func: foo.dim(Tensor self, int dim) -> Tensor
- func: foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU: foo_out
""",
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
