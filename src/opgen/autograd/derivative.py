"""Define the gradients of operators as values: what `differentiability` derives from formulas, and what these save.

Source of the patterns: torchgen, see docs/reference/torchgen-differences.md. An attribute such as `self.sym_sizes()` is
saved in place of the tensor, which may then be freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct, field

from opgen.autograd.formula import Formula, Node
from opgen.cpp.cpp_types import (
    BOOL,
    INT,
    SYM_INT,
    SYM_INT_ARRAY_REF,
    TENSOR_OPTIONS,
    Base,
    CType,
    Optional,
    Vector,
)
from opgen.cpp.signatures import Binding
from opgen.diagnostics import Span
from opgen.model.derivatives import DerivativeEntry, TextPlace, WrittenFormula
from opgen.model.function_schema import Argument
from opgen.model.native_function import NativeFunction
from opgen.model.types import Type


class SavedAttribute(Struct, frozen=True):
    """A value that an operator saves for its backward: an argument, an output, or an attribute of one.

    `expr` is the C++ expression whose value is saved; `name` is the field of the node.
    """

    name: str
    type: CType
    expr: str


class Derivative(Struct, frozen=True):
    """The backward formula for the gradients of the arguments `var_names`.

    In `formula`, attributes are replaced by the fields that they are saved in; `original_formula` is as written.
    """

    var_names: tuple[str, ...]
    formula: Formula
    original_formula: Formula
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: frozenset[str]
    place: TextPlace


class ForwardDerivative(Struct, frozen=True):
    """The forward formula for the tangents of the outputs `var_names`.

    `required_inputs_fw_grad` and `required_inputs_primal` are the arguments whose tangents and primals it uses. With
    `required_original_self_value`, it uses the value of `self` before the operator wrote it.
    `is_reusing_outplace_formula` is whether it is that of the functional variant.
    """

    var_names: tuple[str, ...]
    var_types: tuple[Type, ...]
    formula: Formula
    place: TextPlace
    required_inputs_fw_grad: tuple[str, ...] = ()
    required_inputs_primal: tuple[str, ...] = ()
    required_original_self_value: bool = False
    is_reusing_outplace_formula: bool = False


class DifferentiabilityInfo(Struct, frozen=True):
    """The gradients of one operator for one dispatch key.

    `func` is the variant that the formulas are written for. `op` is the name of the node; None without backward
    formulas. `args_with_derivatives` are the parameters that have a backward formula, in their order.
    `output_differentiability` says for each output whether it has a gradient; None if all have. With
    `output_differentiability_condition`, the one output has a gradient if that C++ expression is true. `entry` is where
    the formulas are written.
    """

    name: str
    func: NativeFunction
    op: str | None
    derivatives: tuple[Derivative, ...]
    forward_derivatives: tuple[ForwardDerivative, ...]
    args_with_derivatives: tuple[Binding, ...]
    non_differentiable_arg_names: tuple[str, ...]
    output_differentiability: tuple[bool, ...] | None
    output_differentiability_condition: WrittenFormula | None
    entry: DerivativeEntry

    @property
    def has_derivatives(self) -> bool:
        return bool(self.args_with_derivatives)

    @property
    def unmentioned_tensors(self) -> tuple[Argument, ...]:
        """The tensors among the arguments of `func` of which no row says anything."""
        named = {b.name for b in self.args_with_derivatives}.union(
            self.non_differentiable_arg_names
        )
        every = self.func.func.arguments.flat_all
        return tuple(a for a in every if a.type.is_tensor_like() and a.name not in named)

    @property
    def all_saved_inputs(self) -> tuple[SavedAttribute, ...]:
        """What the formulas save of the arguments, each field once."""
        return _first_of_each(d.saved_inputs for d in self.derivatives)

    @property
    def all_saved_outputs(self) -> tuple[SavedAttribute, ...]:
        """What the formulas save of the outputs, each field once."""
        return _first_of_each(d.saved_outputs for d in self.derivatives)

    @property
    def used_named_gradients(self) -> frozenset[str]:
        return frozenset().union(*(d.named_gradients for d in self.derivatives))


class DifferentiableFunction(Struct, frozen=True, dict=True):
    """An operator with the gradients that belong to it, by dispatch key; none if no formula does.

    `forward` holds the forward formulas of each key as this variant uses them.
    """

    func: NativeFunction
    infos: Mapping[str, DifferentiabilityInfo]
    forward: Mapping[str, tuple[ForwardDerivative, ...]]

    @cached_property
    def has_derivatives(self) -> bool:
        return any(info.has_derivatives for info in self.infos.values())


def _first_of_each(groups: Iterable[tuple[SavedAttribute, ...]]) -> tuple[SavedAttribute, ...]:
    found: dict[str, SavedAttribute] = {}
    for saved in (saved for group in groups for saved in group):
        found.setdefault(saved.name, saved)
    return tuple(found.values())


class AuthorFunction(Struct, frozen=True):
    """A function that an author's header declares, and a formula calls.

    Types are written as in the header, so they are valid in `namespace`. `conditions` are those of `#if` around the
    declaration. `header` is the header that declares it, as written after `#include`, `operator` the full name of the
    first operator whose formulas call it, `of` what that formula is for (`self`, or `result` if it `is_forward`), and `place`
    the call.
    """

    namespace: str
    name: str
    returns: str
    types: tuple[str, ...]
    names: tuple[str, ...]
    conditions: tuple[str, ...]
    header: str
    operator: str
    of: str
    is_forward: bool
    place: Span

    @property
    def full_name(self) -> str:
        """`mylib::scale_backward`."""
        return f"{self.namespace}::{self.name}" if self.namespace else self.name

    @property
    def declaration(self) -> str:
        """`Tensor scale_backward(const Tensor& grad, double factor)`."""
        parameters = (f"{t} {n}".rstrip() for t, n in zip(self.types, self.names))
        return f"{self.returns} {self.name}({', '.join(parameters)})"


class FormulaFiles(Struct, frozen=True):
    """The headers that formulas need, with the spelling after `#include`, and the functions that they declare.

    `functions` are those that may be stubs. `declared` are the names of all, each with its namespace. `short_names` has the
    name of each file of formulas, by its path: what compilers' errors call it.
    """

    includes: tuple[str, ...] = ()
    functions: tuple[AuthorFunction, ...] = ()
    declared: frozenset[tuple[str, str]] = frozenset()
    short_names: Mapping[str, str] = field(default_factory=dict)


_SCALAR_TYPE = Base("ScalarType")
OPTIONAL_STRING = Optional(Base("string_view"))
# Saves the sizes and options of a tensor, and makes zeros like it.
_TYPE_AND_SIZE = Base("TypeAndSize")


class _Attribute(Struct, frozen=True):
    """What is saved for an expression: in a field with the name of the argument or output, and `suffix`.

    `expr` returns the expression that is saved, from the name and the text of the expression in the formula; `result`
    replaces it there.
    """

    suffix: str
    type: CType
    expr: Callable[[str, str], str] = lambda _, text: text
    result: str = "{}"


def optional_string(name: str) -> str:
    """Return an optional string in formulas: the node saves one that owns its characters."""
    view = f"std::optional<std::string_view>({name}.value())"
    return f"{name}.has_value() ? {view} : std::nullopt"


def _optional_sizes(name: str, text: str) -> str:
    return f"{name}.has_value() ? std::optional<c10::SymIntArrayRef>({name}->sym_sizes()) : std::nullopt"


# By the method of a variable with the sign before it, or the function that is called with a variable alone.
_ATTRIBUTES = {
    ".sym_sizes": _Attribute("_sym_sizes", SYM_INT_ARRAY_REF),
    "->sym_sizes": _Attribute("_sym_sizes_opt", Optional(SYM_INT_ARRAY_REF), _optional_sizes),
    ".sym_blocksize": _Attribute(
        "_self_sym_blocksize_opt",
        Optional(SYM_INT_ARRAY_REF),
        lambda name, _: f"at::sparse_csr::getSymIntBlockSize({name})",
    ),
    ".options": _Attribute("_options", TENSOR_OPTIONS),
    "zeros_like": _Attribute("_info", _TYPE_AND_SIZE, lambda name, _: name, "{}.zeros()"),
    ".sym_size": _Attribute("_sym_argsize_{}", SYM_INT),
    ".numel": _Attribute("_numel", INT),
    ".sym_numel": _Attribute("_sym_numel", SYM_INT),
    "to_args_sizes": _Attribute("_args_sizes", Vector(Vector(INT))),
    "to_args_sizes_symint": _Attribute("_args_sizes_symint", Vector(Vector(SYM_INT))),
    "to_args_scalartypes": _Attribute("_args_scalartypes", Vector(_SCALAR_TYPE)),
    "TensorGeometry": _Attribute("_geometry", Base("TensorGeometry")),
    ".scalar_type": _Attribute("_scalar_type", _SCALAR_TYPE),
    ".dim": _Attribute("_dim", INT),
    ".sym_strides": _Attribute(
        "_sym_strides", SYM_INT_ARRAY_REF, lambda name, _: f'strides_or_error({name}, "{name}")'
    ),
    ".layout": _Attribute("_layout", Base("Layout")),
    ".is_conj": _Attribute("_conjugate", BOOL),
}
_RANKS = {key: rank for rank, key in enumerate(_ATTRIBUTES)}
_BY_RANK = tuple(_ATTRIBUTES.values())


def save_variables(
    formula: Formula, variables: Iterable[tuple[str, CType]], outputs: Iterable[tuple[str, CType]]
) -> tuple[Formula, tuple[SavedAttribute, ...], tuple[SavedAttribute, ...]]:
    """Replace what a formula reads of `variables` and `outputs` by fields; return the formula and the fields of both.

    Each is a pair of a name and its C++ type.
    """
    reads = _Reads(formula)
    saved = tuple(field for name, ctype in variables for field in reads.save(name, ctype))
    of_outputs = tuple(field for name, ctype in outputs for field in reads.save(name, ctype))
    return formula.replace(reads.edits), saved, of_outputs


class _Reads:
    """What a formula reads of each value: attributes, and the value itself; and `edits` of what is saved."""

    def __init__(self, formula: Formula) -> None:
        self.edits: list[tuple[int, int, str]] = []
        self._formula = formula
        self._attributes: dict[str, list[tuple[int, Node]]] = {}
        self._names: dict[str, list[Node]] = {}
        inner = set()
        for node in formula.nodes:
            if node.kind in ("method", "call"):
                key = (node.scope if node.kind == "method" else "") + node.text
                if key in _RANKS and _is_of_variable(node):
                    name = node.parts[0].text
                    self._attributes.setdefault(name, []).append((_RANKS[key], node))
                    inner.add(node.parts[0].at)
        for node in formula.nodes:
            if node.kind == "name" and not node.scope and node.at not in inner:
                self._names.setdefault(node.text, []).append(node)

    def save(self, name: str, ctype: CType) -> Iterator[SavedAttribute]:
        """Yield the fields for a value."""
        for rank, node in sorted(self._attributes.get(name, ()), key=lambda read: read[0]):
            attribute, index = _BY_RANK[rank], "".join(map(_written, node.parts[1:]))
            field = name + attribute.suffix.format(index.replace("-", "minus_"))
            self.edits.append((node.start, node.end, attribute.result.format(field)))
            text = self._formula.text_of(node)
            yield SavedAttribute(field, attribute.type, attribute.expr(name, text))
        names = self._names.get(name)
        if names is None:
            return
        if ctype == OPTIONAL_STRING:
            self.edits += [(node.start, node.end, optional_string(name)) for node in names]
        yield SavedAttribute(name, ctype, name)


def _is_of_variable(node: Node) -> bool:
    """Return whether a call reads a value alone; `sym_size` has a number or a name besides."""
    if not node.parts or node.parts[0].kind != "name" or node.parts[0].scope:
        return False
    if node.kind == "call":
        return not node.scope and node.template is None and len(node.parts) == 1
    if node.text == "sym_size":
        return len(node.parts) == 2 and _written(node.parts[1]) != ""
    return len(node.parts) == 1


def _written(node: Node) -> str:
    """Return a number or a name with its sign; an empty text for other expressions."""
    if node.kind == "unary" and node.text == "-":
        text = _written(node.parts[0])
        return f"-{text}" if text and text[0] != "-" else ""
    is_plain = node.kind in ("name", "number") and not node.scope and "." not in node.text
    return node.text if is_plain else ""
