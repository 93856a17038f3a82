"""Codes E04xx: entries that contradict each other."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

E0401 = Code(
    "E0401",
    "an operator is defined twice",
    "Each operator needs a unique name, which is its name with its overload but without its namespace. Give one "
    "of the two another name or another overload.",
    Example(
        """\
- func: foo(Tensor self) -> Tensor
- func: foo(Tensor self, int dim) -> Tensor
""",
        """\
- func: foo(Tensor self) -> Tensor
- func: foo.dim(Tensor self, int dim) -> Tensor
""",
    ),
    ("V112", "A12"),
)
E0402 = Code(
    "E0402",
    "'structured_delegate' names no operator",
    "A functional or in-place variant of a structured operator names the out variant that has the kernels. No "
    "entry has this name.",
    Example(
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
    ),
    ("V113",),
)
E0403 = Code(
    "E0403",
    "'structured_delegate' names an operator that is not structured",
    "The operator that 'structured_delegate' names must have 'structured: True'; only then does its kernel serve "
    "the other variants. Alternatively, remove 'structured_delegate' and write a kernel for each variant.",
    Example(
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
    ),
    ("V114",),
)
E0404 = Code(
    "E0404",
    "an argument has the name of a Python keyword",
    "Python callers pass arguments by name, and a Python keyword cannot be used as one. Some old operators of "
    "PyTorch are exempt.",
    Example(
        "- func: foo(Tensor self, int lambda) -> Tensor\n",
        "- func: foo(Tensor self, int lambd) -> Tensor\n",
    ),
    ("V115",),
    of_torchgen=True,
)
E0405 = Code(
    "E0405",
    "the tag 'inplace_view' on an operator whose name is not in-place",
    "The tag means that an operator changes sizes, strides or offset of self itself. Such an operator is "
    "in-place, so its name must end in '_'. resize_, resize_as_ and set_ are exempt from the rules for views.",
    Example(
        """\
- func: foo(Tensor self) -> Tensor
  tags: inplace_view
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    ),
    ("V116",),
    of_torchgen=True,
)
E0406 = Code(
    "E0406",
    "the tag 'inplace_view' without a sibling that returns a view",
    "An operator that changes how self views its storage needs a sibling of the same name without '_' that "
    "returns such a view. There is none.",
    Example(
        """\
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    ),
    ("V117",),
    of_torchgen=True,
)
E0407 = Code(
    "E0407",
    "the tag 'generated' on an entry",
    "The tag marks variants that opgen generates because 'autogen' requests them. An entry in the file is not "
    "generated. Remove the tag.",
    Example(
        """\
- func: foo(Tensor self) -> Tensor
  tags: generated
""",
        "- func: foo(Tensor self) -> Tensor\n",
    ),
    ("V135", "C27"),
)
E0408 = Code(
    "E0408",
    "an out variant with a different signature",
    "An operator and the out variant that it delegates to must have the same arguments: names, types and "
    "defaults. These two differ, so they are not variants of one operator, and the kernels of the out variant "
    "cannot serve both.",
    Example(
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
    ),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
