"""Codes E06xx: views whose siblings are missing or do not match."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example

_COPY = """\
- func: foo_copy(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: foo_copy
  tags: view_copy
  autogen: foo_copy.out
"""
_VIEW = """\
- func: foo(Tensor(a) self) -> Tensor(a)
  dispatch:
    CPU: foo_cpu
"""

E0601 = Code(
    "E0601",
    "an in-place view without the tag 'inplace_view'",
    "An in-place operator that puts an argument into the alias set '*' changes what the argument views. Mark it "
    "with the tag 'inplace_view'.",
    Example(
        "- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)\n",
        """\
- func: foo(Tensor(a) self, Tensor(b -> *) other) -> Tensor(a)
- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)
  tags: inplace_view
""",
    ),
    ("V137",),
    of_torchgen=True,
)
E0602 = Code(
    "E0602",
    "two operators in the same role for a view",
    "Operators whose names end in '_copy' or '_scatter' belong to the view whose name is the same without that "
    "ending. An operator that has the view's own name belongs to it, too. There can be one operator of each "
    "kind. Rename one, or make their arguments differ.",
    Example(
        """\
- func: foo(Tensor self) -> Tensor
- func: foo_copy(Tensor self) -> Tensor
""",
        """\
- func: foo(Tensor self) -> Tensor
- func: foo_clone(Tensor self) -> Tensor
""",
    ),
    ("V138",),
    of_torchgen=True,
)
E0603 = Code(
    "E0603",
    "two views with the same name and signature",
    "opgen compares the names of views without a '_copy' at their end, because that ending is for operators that "
    "copy. Without it, these two views have the same name. Rename one of them.",
    Example(
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_copy(Tensor(a) self) -> Tensor(a)
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_clone(Tensor self) -> Tensor
""",
    ),
    ("V139",),
    of_torchgen=True,
)
E0604 = Code(
    "E0604",
    "a view without a copying sibling",
    "Every view that does not decompose needs an operator that returns new tensors, with the same name plus "
    "'_copy' and the same arguments. opgen generates its kernel, but you must write its entry. An operator that "
    "reverses elements, such as flip, cannot be a view: no tensor has strides below zero, in opgen's runtime as in "
    "PyTorch. It returns a new tensor, so its schema has no '(a)'.",
    Example(_VIEW, _VIEW + _COPY),
    ("V140",),
    of_torchgen=True,
)
E0605 = Code(
    "E0605",
    "the copying sibling of a view has the wrong name",
    "An operator with the same signature as a view is its copying sibling. Its name must be the view's name with "
    "'_copy' at the end.",
    Example(
        """\
- func: foo_copy(Tensor(a) self) -> Tensor(a)
- func: foo(Tensor self) -> Tensor
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_copy(Tensor self) -> Tensor
  tags: view_copy
""",
    ),
    ("V146",),
    of_torchgen=True,
)
E0606 = Code(
    "E0606",
    "a view has the name of a copy",
    "The endings '_copy' and '_scatter' mark operators that copy instead of returning a view. A view with such a "
    "name makes the names of its siblings ambiguous. Rename the view.",
    Example(
        """\
- func: foo_copy(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
- func: foo.x(Tensor self, int dim) -> Tensor
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
- func: foo.x(Tensor self, int dim) -> Tensor
""",
    ),
    ("V141", "V143"),
    of_torchgen=True,
)
E0607 = Code(
    "E0607",
    "the copying sibling of a view lacks the tag 'view_copy'",
    "The tag means that the operator computes the same as the view, but returns a copy. opgen generates its "
    "kernel.",
    Example(_VIEW + _COPY.replace("  tags: view_copy\n", ""), _VIEW + _COPY),
    ("V142",),
    of_torchgen=True,
)
E0608 = Code(
    "E0608",
    "a view decomposes, but its in-place form does not",
    "If a view is composed of other operators by a CompositeImplicitAutograd kernel (or by one for nested "
    "tensors), its in-place form must be, too. Otherwise autograd would differentiate the two in different ways.",
    Example(
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
  dispatch:
    CPU: foo_cpu_
""",
        """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
""",
    ),
    ("V144", "V145"),
    of_torchgen=True,
)

E0609 = Code(
    "E0609",
    "a copying sibling does not register its generated kernel",
    "opgen generates the kernel of a view's copying sibling: it calls the view and clones the result. The kernel "
    "serves all backends. The entry must register it by naming it under CompositeExplicitAutogradNonFunctional.",
    Example(_VIEW + _COPY.replace("CompositeExplicitAutogradNonFunctional", "CPU"), _VIEW + _COPY),
    ("V167", "C29"),
    of_torchgen=True,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
