"""Stubs of functions that formulas call (FormulaStubs.cpp), which run in place of those that are not written yet."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from opgen.autograd.formula_files import AuthorFunction
from opgen.emit.common.base import GeneratedFile, Record, cpp_string, group_by
from opgen.emit.common.context import Context


class FormulaStub(Record, frozen=True):
    """A function, the operator whose formula calls it, and the text to write. `condition` is that of its declaration."""

    comment: str
    returns: str
    name: str
    types: str
    function: str
    operator: str
    to_write: str
    condition: str

    @property
    def pointer(self) -> str:
        return f"{self.returns} (*)({self.types})"


class FormulaStubs(Record, frozen=True):
    """The stubs of a C++ namespace. Those under a condition are not `listed` in the report of stubs."""

    namespace: str
    items: tuple[FormulaStub, ...]

    @property
    def listed(self) -> tuple[FormulaStub, ...]:
        return tuple(stub for stub in self.items if not stub.condition)


class FormulaStubsFile(GeneratedFile, frozen=True):
    library: str
    stem: str
    tensor_header: str
    includes: tuple[str, ...]
    blocks: tuple[FormulaStubs, ...]


def build_formula_stubs(context: Context) -> Iterator[GeneratedFile]:
    """Build stubs/FormulaStubs.cpp: a weak definition of each function that authors' headers declare for formulas."""
    functions = kept_functions(context)
    if functions:
        stem = "FormulaStubs"
        yield FormulaStubsFile(
            path=f"stubs/{stem}.cpp",
            template="FormulaStubs.cpp.j2",
            library=context.library.name,
            stem=stem,
            tensor_header=context.tensor_header,
            includes=context.formula_files.includes,
            blocks=tuple(
                FormulaStubs(namespace, tuple(map(_stub, members)))
                for namespace, members in group_by(functions, lambda f: f.namespace).items()
            ),
        )


def kept_functions(context: Context) -> tuple[AuthorFunction, ...]:
    """Return the functions that the formulas of the selected operators call."""
    kept = {f.full_name for f in context.registry.functions if context.keeps(f)}
    return tuple(f for f in context.formula_files.functions if f.operator in kept)


class FormulaSkeleton(Record, frozen=True):
    """Return a function to write: its purpose and place as a comment, its declaration, and the text of its error."""

    comment: str
    namespace: str
    declaration: str
    error: str


def formula_skeletons(context: Context, roots: Collection[str]) -> tuple[FormulaSkeleton, ...]:
    """Return the functions that the formulas of operators with these root names call."""
    operators = {f.full_name for f in context.registry.functions if f.root_name in roots}
    return tuple(
        FormulaSkeleton(
            comment=f"{purpose(function)} ({place_of(function)})",
            namespace=function.namespace,
            declaration=function.declaration,
            error=cpp_string(f"{function.full_name} is not written yet"),
        )
        for function in context.formula_files.functions
        if function.operator in operators
    )


def place_of(function: AuthorFunction) -> str:
    """Return `derivatives.yaml:12:9`: the place of the call."""
    span = function.place
    location = span.source.location(span.start)
    return f"{span.source.path}:{location.line}:{location.column}"


def purpose(function: AuthorFunction) -> str:
    """Return `For the gradient of self of mylib::scale`."""
    what = "tangent" if function.is_forward else "gradient"
    return f"For the {what} of {function.of} of {function.operator}"


def text_to_write(function: AuthorFunction) -> str:
    """Return `namespace mylib { Tensor scale_backward(const Tensor& grad) { ... } }`."""
    body = f"{function.declaration} {{ ... }}"
    return f"namespace {function.namespace} {{ {body} }}" if function.namespace else body


def _stub(function: AuthorFunction) -> FormulaStub:
    return FormulaStub(
        comment=purpose(function),
        returns=function.returns,
        name=function.name,
        types=", ".join(function.types),
        function=cpp_string(function.full_name),
        operator=cpp_string(function.operator),
        to_write=cpp_string(text_to_write(function)),
        condition=_all_of(function.conditions),
    )


def _all_of(conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " && ".join(f"({one})" for one in conditions)
