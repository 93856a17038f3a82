"""Codes E0530 to E0537: structured operators without an out variant, which are an opgen extension."""

from __future__ import annotations

from opgen.diagnostics.codes import Code, Example


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
    " (Structured operators without an out variant are an opgen extension: see "
    "docs/concepts/structured.md.)"
)

E0530 = Code(
    "E0530",
    "'structured' on an operator that has an out variant",
    "If an operator has an out variant, the out variant is the structured one, because its kernel serves all "
    "variants; the others have 'structured_delegate: NAME.out'. A functional operator may have 'structured: "
    "True' only if it has no out variant, neither written nor generated. (Outside of 'aten', it may ask for its out "
    "variant with 'autogen': then its entry stands for all.)" + _EXTENSION,
    Example(
        _entry(_FOO, *_STRUCTURED) + _entry(_OUT, "dispatch:", "  CPU: foo_out_cpu"),
        _entry(_FOO, "structured_delegate: foo.out")
        + _entry(_OUT, "structured: True", "dispatch:", "  CPU: foo_out_cpu"),
    ),
)
E0531 = Code(
    "E0531",
    "a structured operator creates a tensor, but no kernel fills it",
    "The meta function of a structured operator without an out variant determines the layout of its outputs. "
    "That suffices for a view. A new tensor is allocated, and a kernel must fill it: one for each backend, or "
    "one composed of other operators for all backends (CompositeExplicitAutograd)." + _EXTENSION,
    Example(_entry(_FOO, "structured: True"), _entry(_FOO, *_STRUCTURED)),
)
E0532 = Code(
    "E0532",
    "a structured view with an unknown base",
    "An output of a structured operator can be a view of the one Tensor argument that has the same alias set. "
    "Here no argument has it, or several do. A structured operator cannot view lists or optional tensors."
    + _EXTENSION,
    Example(
        _entry("foo(Tensor(a) x, Tensor(a) y) -> Tensor(a)", "structured: True")
        + _VIEW_COPY.replace("Tensor self", "Tensor x, Tensor y"),
        _entry("foo(Tensor(a) x, Tensor y) -> Tensor(a)", "structured: True")
        + _VIEW_COPY.replace("Tensor self", "Tensor x, Tensor y"),
    ),
)
E0533 = Code(
    "E0533",
    "the in-place form of a structured operator is of another kind",
    "The in-place form of a structured view changes the layout of its argument and has the tag 'inplace_view'. "
    "The in-place form of an operator that creates a tensor writes its argument and does not have the tag. An "
    "operator that returns several views has no in-place form." + _EXTENSION,
    Example(
        _entry(_FOO, *_STRUCTURED)
        + _entry(_FOO_, "structured_delegate: foo", "tags: inplace_view"),
        _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "structured_delegate: foo"),
    ),
)
E0534 = Code(
    "E0534",
    "precomputed values without a kernel that receives them",
    "'precomputed' lists the values that the meta function passes to the kernel. Views without a kernel cannot "
    "use them." + _EXTENSION,
    Example(
        _entry(_VIEW, "structured: True", "precomputed:", "- int length") + _VIEW_COPY,
        _entry(_VIEW, "structured: True") + _VIEW_COPY,
    ),
)
E0535 = Code(
    "E0535",
    "an in-place operator does not delegate to its structured sibling",
    "If an operator without an out variant is structured, its meta function also serves its in-place form. The "
    "in-place form must have 'structured_delegate' with the name of the functional operator."
    + _EXTENSION,
    Example(
        _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "dispatch:", "  CPU: foo_cpu_"),
        _entry(_FOO, *_STRUCTURED) + _entry(_FOO_, "structured_delegate: foo"),
    ),
)
E0537 = Code(
    "E0537",
    "a structured operator cannot have a variant that it asks for",
    "With 'autogen', the entry of a structured functional operator stands for the entries of its variants. An in-place "
    "variant writes the only result to an argument: 'self' must be a positional argument, and 'self' and the result a "
    "Tensor each. An out variant writes new tensors, so an operator that returns a view has none."
    + _EXTENSION,
    Example(
        _entry("myops::foo(Tensor x, Tensor y) -> Tensor", *_STRUCTURED, "autogen: foo.out, foo_"),
        _entry(
            "myops::foo(Tensor self, Tensor y) -> Tensor", *_STRUCTURED, "autogen: foo.out, foo_"
        ),
    ),
)

CODES: tuple[Code, ...] = tuple(v for v in list(vars().values()) if isinstance(v, Code))
