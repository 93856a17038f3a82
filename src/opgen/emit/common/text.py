"""Spell signatures for a target: the strings that generated files contain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from msgspec import field
from msgspec.structs import replace

from opgen.cpp.cpp_types import CType, TypeSpelling, spell
from opgen.cpp.names import operator_struct_name
from opgen.cpp.signatures import (
    Binding,
    CppSignature,
    DispatcherSignature,
    NativeSignature,
    Signatures,
)
from opgen.cpp.translate import translate
from opgen.emit.common.base import PublicFunction, Record, listed
from opgen.model.function_schema import TENSOR, SchemaKind
from opgen.model.native_function import NativeFunction
from opgen.model.profile import operator_namespace
from opgen.targets.base import Target


class SpelledSignature(Record, frozen=True):
    """The signature of a kernel, or of the dispatcher: parameters have no defaults."""

    returns: str
    # `const Tensor& self, const Scalar& alpha`, and the same as `listed` returns it.
    parameters: str
    listed: str
    # `const Tensor&, const Scalar&`
    types: str

    @property
    def function_type(self) -> str:
        """`Tensor(const Tensor&, const Scalar&)`."""
        return f"{self.returns}({self.types})"

    @property
    def pointer_type(self) -> str:
        """`Tensor (*)(const Tensor&, const Scalar&)`."""
        return f"{self.returns} (*)({self.types})"


class Speller(Record, frozen=True, dict=True):
    """Spells the signatures of one target.

    `own_tensor` is the library's own class Tensor; empty if it has none. In the library's namespaces, `Tensor` then means
    this class, and the dispatcher's signatures and the parameters of public functions spell the runtime's out.
    """

    target: Target
    signatures: Signatures
    own_tensor: str = ""
    _spelled: dict[tuple[type, str, bool], SpelledSignature] = field(default_factory=dict)
    _functions: dict[tuple[str, bool], tuple[PublicFunction, ...]] = field(default_factory=dict)

    def type(self, ctype: CType, *, spelling: TypeSpelling | None = None) -> str:
        return spell(ctype, spelling or self.target.cpp.spelling)

    def index_sequence(self, positions: Iterable[object]) -> str:
        return (
            f"{self.target.cpp.spelling.standard}index_sequence<{', '.join(map(str, positions))}>"
        )

    def signature(
        self, returns: str, arguments: Iterable[Binding], spelling: TypeSpelling | None = None
    ) -> SpelledSignature:
        """Return a signature in `spelling`, or else in the target's."""
        typed = [(self.type(b.type, spelling=spelling), b.name) for b in arguments]
        parameters = [f"{type} {name}" for type, name in typed]
        types = ", ".join([type for type, _ in typed])
        return SpelledSignature(returns, ", ".join(parameters), listed(parameters), types)

    def spelled(self, signature: DispatcherSignature | NativeSignature) -> SpelledSignature:
        """Return `signature` as text, cached: it is the same for all keys."""
        key = (type(signature), signature.function.full_name, signature.symint)
        found = self._spelled.get(key)
        if found is None:
            dispatched = isinstance(signature, DispatcherSignature)
            spelling = self._of_runtime if dispatched else self.target.cpp.spelling
            returns = spell(signature.returns, spelling)
            found = self._spelled[key] = self.signature(returns, signature.arguments, spelling)
        return found

    def expressions(
        self, have: tuple[Binding, ...], want: tuple[Binding, ...], *, method: bool = False
    ) -> list[str]:
        """Return the arguments `want`, as expressions over the bindings `have`."""
        return list(translate(have, want, self.target.cpp.conversions, method=method))

    def cpp_signatures(self, f: NativeFunction, *, method: bool) -> tuple[CppSignature, ...]:
        """Return the public C++ signatures of `f` that this target has, plain before faithful."""
        every = self.signatures.cpp(f, method=method)
        return tuple(s for s in every if self.target.cpp.symint_overloads or not s.symint)

    def functions(self, f: NativeFunction, *, method: bool = False) -> tuple[PublicFunction, ...]:
        """Return the public functions of `f`, spelled once: all that call it, or one of its kernels, have the same."""
        key = (f.full_name, method)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = tuple(self._spell_functions(f, method))
        return found

    def _spell_functions(self, f: NativeFunction, method: bool) -> Iterator[PublicFunction]:
        wanted = self.signatures.dispatcher(f).arguments
        spelling = self._of_runtime
        for signature in self.cpp_signatures(f, method=method):
            given = signature.arguments
            yield PublicFunction(
                text=_difference(signature) or str(f.func),
                returns=self.type(signature.returns),
                name=signature.name,
                parameters=listed([b.declaration(spelling, defaults=True) for b in given]),
                plain_parameters=listed([b.declaration(spelling, defaults=False) for b in given]),
                arguments=", ".join(self.expressions(given, wanted, method=method)),
                doc=f.doc or "",
            )

    @cached_property
    def _of_runtime(self) -> TypeSpelling:
        """The spelling of types with the runtime's class Tensor."""
        spelling = self.target.cpp.spelling
        if not self.own_tensor:
            return spelling
        names = names_with_tensors(self.target.cpp.base_tensor)
        return replace(spelling, names={**spelling.names, **dict(zip(_NAMES_WITH_TENSORS, names))})


# What a library with a class Tensor of its own declares with it.
_NAMES_WITH_TENSORS = ("Tensor", "TensorList", "ITensorListRef")


def names_with_tensors(tensor: str) -> list[str]:
    """Return a class Tensor and the lists beside it: `at::Tensor`, `at::TensorList` and so on."""
    return [f"{tensor.removesuffix('Tensor')}{name}" for name in _NAMES_WITH_TENSORS]


def _difference(signature: CppSignature) -> str:
    """Return the comment that says how a signature differs from its operator's plain one; empty for the plain one."""
    parts = []
    if signature.symint:
        parts.append("with symbolic sizes")
    if signature.faithful:
        outs = [a.name for a in signature.function.func.arguments.out]
        options = "dtype, layout, device and pin_memory one by one"
        parts.append(f"with {' and '.join(outs)} last" if outs else f"with {options}")
        parts.append("without defaults")
    return f"As above, {', '.join(parts)}." if parts else ""


def operator_struct(f: NativeFunction) -> str:
    """Return `at::_ops::add_Tensor`."""
    return f"{operator_namespace(f.namespace)}::_ops::{operator_struct_name(f.func)}"


# By root names. Source: ATen's TensorOperators.h and TensorBody.h.
_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "remainder": "%",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
_UNARY = {"neg": "-", "bitwise_not": "~"}
_INPLACE = {"add", "sub", "mul", "div", "bitwise_and", "bitwise_or", "bitwise_xor"}


def cpp_operator(f: NativeFunction) -> tuple[str, tuple[str, ...]] | None:
    """Return the symbol of the C++ operator with the meaning of `f`, and the names of its one or two tensors; None if
    there is none."""
    given = f.func.arguments.flat_all if f.root_name in _BINARY or f.root_name in _UNARY else ()
    # One or two tensors, and nothing else except `alpha=1`.
    names = tuple(a.name for a in (given[:-1] if has_alpha(f) else given) if a.type == TENSOR)
    if len(names) not in (1, 2) or len(names) + has_alpha(f) != len(given):
        return None
    if [r.type for r in f.func.returns] != [TENSOR]:
        return None
    kind, name = f.func.kind(), f.root_name
    symbol = None
    if kind is SchemaKind.functional:
        symbol = (_UNARY if len(names) == 1 else _BINARY).get(name)
    elif kind is SchemaKind.inplace and len(names) == 2 and name in _INPLACE:
        symbol = f"{_BINARY[name]}="
    return None if symbol is None else (symbol, names)


def has_alpha(f: NativeFunction) -> bool:
    """Return whether the last argument of `f` is `alpha=1`."""
    last = f.func.arguments.flat_all[-1:]
    return bool(last) and last[0].name == "alpha" and last[0].default == "1"
