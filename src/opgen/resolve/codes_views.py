"""The records of E06xx: views whose siblings are missing or do not match."""

from __future__ import annotations

from opgen.diagnostics.codes import Code

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
    "An in-place operator that puts an argument into the alias set '*' changes what is viewed. The tag "
    "'inplace_view' says so.",
    "- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)\n",
    """\
- func: foo(Tensor(a) self, Tensor(b -> *) other) -> Tensor(a)
- func: foo_(Tensor(a!) self, Tensor(b -> *) other) -> Tensor(a!)
  tags: inplace_view
""",
    ("V137",),
    of_torchgen=True,
)
E0602 = Code(
    "E0602",
    "two operators for one place beside a view",
    "Operators whose names end in '_copy' or '_scatter' belong to the view of the same name without it, and so "
    "does an operator that has that name itself. Of each kind there can be one. Rename one, or let their arguments "
    "differ.",
    """\
- func: foo(Tensor self) -> Tensor
- func: foo_copy(Tensor self) -> Tensor
""",
    """\
- func: foo(Tensor self) -> Tensor
- func: foo_clone(Tensor self) -> Tensor
""",
    ("V138",),
    of_torchgen=True,
)
E0603 = Code(
    "E0603",
    "two views of one name and signature",
    "Names of views are compared without '_copy' at their end, which is for operators that copy. The two views "
    "come out the same. Rename one of them.",
    """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_copy(Tensor(a) self) -> Tensor(a)
""",
    """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_clone(Tensor self) -> Tensor
""",
    ("V139",),
    of_torchgen=True,
)
E0604 = Code(
    "E0604",
    "a view without a sibling that copies",
    "For every view that does not decompose there is an operator of the same name with '_copy', with the same "
    "arguments, that returns new tensors. opgen writes its kernel, but you write its entry.",
    _VIEW,
    _VIEW + _COPY,
    ("V140",),
    of_torchgen=True,
)
E0605 = Code(
    "E0605",
    "the copying sibling of a view has an unfitting name",
    "An operator with the signature of a view is the sibling that copies. Its name is that of the view with "
    "'_copy' at the end.",
    """\
- func: foo_copy(Tensor(a) self) -> Tensor(a)
- func: foo(Tensor self) -> Tensor
""",
    """\
- func: foo(Tensor(a) self) -> Tensor(a)
- func: foo_copy(Tensor self) -> Tensor
  tags: view_copy
""",
    ("V146",),
    of_torchgen=True,
)
E0606 = Code(
    "E0606",
    "a view is called like a copy",
    "'_copy' and '_scatter' at the end of a name mark operators that copy what a view shows. On a view they make "
    "its siblings' names ambiguous. Rename the view.",
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
    ("V141", "V143"),
    of_torchgen=True,
)
E0607 = Code(
    "E0607",
    "the copying sibling of a view lacks the tag 'view_copy'",
    "The tag says that the operator does what the view does, but copies. opgen writes its kernel.",
    _VIEW + _COPY.replace("  tags: view_copy\n", ""),
    _VIEW + _COPY,
    ("V142",),
    of_torchgen=True,
)
E0608 = Code(
    "E0608",
    "a view decomposes, its in-place form does not",
    "If a view is made of other operators by a CompositeImplicitAutograd kernel (or by one for nested tensors), so "
    "must be its in-place form, or they would be differentiated in different ways.",
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
    ("V144", "V145"),
    of_torchgen=True,
)

E0609 = Code(
    "E0609",
    "a copying sibling without the kernel that is written for it",
    "opgen writes the kernel of a view's sibling that copies: it calls the view and clones the result. It serves "
    "all backends, and is registered because the entry names it for CompositeExplicitAutogradNonFunctional.",
    _VIEW + _COPY.replace("CompositeExplicitAutogradNonFunctional", "CPU"),
    _VIEW + _COPY,
    ("V167", "C29"),
    of_torchgen=True,
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
