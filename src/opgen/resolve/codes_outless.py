"""The records of E0530 to E0535: structured operators without an out variant, opgen's extension."""

from __future__ import annotations

from opgen.diagnostics.codes import Code


def _entry(schema: str, *lines: str) -> str:
    return "".join([f"- func: {schema}\n", *(f"  {line}\n" for line in lines)])


_CPU = ("dispatch:", "  CPU: foo_cpu")
_STRUCTURED = ("structured: True", *_CPU)
_FOO = "foo(Tensor self) -> Tensor"
_FOO_ = "foo_(Tensor(a!) self) -> Tensor(a!)"
_OUT = "foo.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"
_VIEW = "foo(Tensor(a) self) -> Tensor(a)"
_VIEW_COPY = _entry(
    "foo_copy(Tensor self) -> Tensor",
    "dispatch:",
    "  CompositeExplicitAutogradNonFunctional: foo_copy",
    "tags: view_copy",
    "autogen: foo_copy.out",
)
_EXTENSION = (
    " (Structured operators without an out variant are opgen's extension: see docs/structured.md.)"
)

E0530 = Code(
    "E0530",
    "structured beside an out variant",
    "Of an operator with an out variant it is the out variant that is structured, since its kernel serves all; the "
    "others have 'structured_delegate: NAME.out'. 'structured: True' stands on a functional operator only if it has "
    "no out variant, neither a written nor a generated one." + _EXTENSION,
    _entry(_FOO, *_STRUCTURED) + _entry(_OUT, "dispatch:", "  CPU: foo_out_cpu"),
    _entry(_FOO, "structured_delegate: foo.out")
    + _entry(_OUT, "structured: True", "dispatch:", "  CPU: foo_out_cpu"),
)
E0531 = Code(
    "E0531",
    "a structured operator makes a new tensor, and no kernel fills it",
    "The meta function of a structured operator without an out variant says how its outputs are laid out. A view is "
    "made with that; a new tensor is allocated, and a kernel has to fill it: of single backends, or one made of other "
    "operators for all of them (CompositeExplicitAutograd)." + _EXTENSION,
    _entry(_FOO, "structured: True"),
    _entry(_FOO, *_STRUCTURED),
)
E0532 = Code(
    "E0532",
    "a structured view whose base cannot be told",
    "An output of a structured operator is a view of the one Tensor argument that has its alias set. Here there is "
    "none, or there are several. Lists and optional tensors cannot be viewed by a structured operator."
    + _EXTENSION,
    _entry("foo(Tensor(a) x, Tensor(a) y) -> Tensor(a)", "structured: True")
    + _VIEW_COPY.replace("Tensor self", "Tensor x, Tensor y"),
    _entry("foo(Tensor(a) x, Tensor y) -> Tensor(a)", "structured: True")
    + _VIEW_COPY.replace("Tensor self", "Tensor x, Tensor y"),
)
E0533 = Code(
    "E0533",
    "the in-place form of a structured operator is of another kind",
    "The in-place form of a structured view lays its argument out anew, and has the tag 'inplace_view'; that of an "
    "operator which makes a new tensor writes its argument, and has not. An operator with several views has no "
    "in-place form." + _EXTENSION,
    _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "structured_delegate: foo", "tags: inplace_view"),
    _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "structured_delegate: foo"),
)
E0534 = Code(
    "E0534",
    "values are precomputed that no kernel receives",
    "'precomputed' names what the meta function hands to the kernel. Views without a kernel have no use for it."
    + _EXTENSION,
    _entry(_VIEW, "structured: True", "precomputed:", "- int length") + _VIEW_COPY,
    _entry(_VIEW, "structured: True") + _VIEW_COPY,
)
E0535 = Code(
    "E0535",
    "an in-place operator does not delegate to its structured sibling",
    "If an operator without an out variant is structured, its meta function serves its in-place form, too: that one "
    "has 'structured_delegate' with the name of the functional operator." + _EXTENSION,
    _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "dispatch:", "  CPU: foo_cpu_"),
    _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "structured_delegate: foo"),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
