"""Signatures as the target spells them: the strings that views hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.cpp.signatures import (
    Binding,
    CppSignature,
    DispatcherSignature,
    NativeSignature,
    Signatures,
    parameters,
)
from opgen.cpp.spelling import TypeSpelling, spell
from opgen.cpp.translate import translate
from opgen.cpp.type_values import CType
from opgen.dataclasses import field
from opgen.model.native_function import NativeFunction
from opgen.targets.base import Target
from opgen.views.base import FunctionView, view


@view
class Caller:
    """A public function of an operator but for what it calls: `arguments` is what that is given."""

    schema: str
    returns: str
    name: str
    parameters: str
    plain_parameters: str
    names: tuple[str, ...]
    arguments: str


@view
class SpelledSignature:
    """What the dispatcher calls, or a kernel: `parameters` are without defaults."""

    returns: str
    parameters: str
    types: str

    @property
    def function_type(self) -> str:
        """`Tensor(const Tensor&, const Scalar&)`."""
        return f"{self.returns}({self.types})"

    @property
    def pointer_type(self) -> str:
        """`Tensor (*)(const Tensor&, const Scalar&)`."""
        return f"{self.returns} (*)({self.types})"


@view
class Speller:
    """Spells the signatures of one target."""

    target: Target
    signatures: Signatures
    _declarations: dict[tuple[Binding, bool], str] = field(
        default_factory=dict, repr=False, compare=False
    )
    _schemas: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _spelled: dict[tuple[type, str, bool], SpelledSignature] = field(
        default_factory=dict, repr=False, compare=False
    )
    _callers: dict[tuple[str, bool], tuple[Caller, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def type(self, ctype: CType, *, spelling: TypeSpelling | None = None) -> str:
        return spell(ctype, spelling or self.target.spelling)

    def schema(self, f: NativeFunction) -> str:
        """The schema as it is written, for comments and tables."""
        found = self._schemas.get(f.full_name)
        if found is None:
            found = self._schemas[f.full_name] = str(f.func)
        return found

    def parameters(
        self,
        bindings: Iterable[Binding],
        *,
        defaults: bool = True,
        spelling: TypeSpelling | None = None,
    ) -> str:
        """`const Tensor& self, const Scalar& alpha = 1`; spelled as the target does, or as said."""
        if spelling is not None:
            return parameters(tuple(bindings), spelling, defaults=defaults)
        return ", ".join([self._declaration(b, defaults) for b in bindings])

    def _declaration(self, binding: Binding, defaults: bool) -> str:
        key = (binding, defaults)
        found = self._declarations.get(key)
        if found is None:
            found = binding.declaration(self.target.spelling, defaults=defaults)
            self._declarations[key] = found
        return found

    def types(self, bindings: Iterable[Binding], *, spelling: TypeSpelling | None = None) -> str:
        """`const Tensor&, const Scalar&`."""
        return ", ".join([self.type(b.type, spelling=spelling) for b in bindings])

    def spelled(self, signature: DispatcherSignature | NativeSignature) -> SpelledSignature:
        """`signature` as text, made once however many keys an operator has kernels for."""
        key = (type(signature), signature.function.full_name, signature.symint)
        found = self._spelled.get(key)
        if found is None:
            typed = [(self.type(b.type), b.name) for b in signature.arguments()]
            found = self._spelled[key] = SpelledSignature(
                returns=self.type(signature.returns),
                parameters=", ".join([f"{type} {name}" for type, name in typed]),
                types=", ".join([type for type, _ in typed]),
            )
        return found

    def expressions(
        self, have: Sequence[Binding], want: Sequence[Binding], *, method: bool = False
    ) -> list[str]:
        """The arguments `want`, as expressions over the bindings `have`."""
        return list(translate(have, want, self.target.conversions, method=method))

    def cpp_signatures(self, f: NativeFunction, *, method: bool) -> tuple[CppSignature, ...]:
        """The public C++ signatures of `f` that this target has, plain before faithful."""
        group = self.signatures.cpp(f, method=method)
        signatures = [group.signature, group.faithful_signature]
        if self.target.symint_overloads:
            signatures += [group.symint_signature, group.symint_faithful_signature]
        return tuple(s for s in signatures if s is not None)

    def functions(
        self, f: NativeFunction, callee: str, *, method: bool = False, first: Binding | None = None
    ) -> Iterator[FunctionView]:
        """The public functions of `f`, calling `callee`, which takes the dispatcher's arguments.

        All of them take the parameter `first` before the others.
        """
        declared = "" if first is None else self.parameters([first])
        given = "" if first is None else first.name
        for caller in self.callers(f, method=method):
            yield FunctionView(
                schema=caller.schema,
                returns=caller.returns,
                name=caller.name,
                parameters=_joined(declared, caller.parameters),
                plain_parameters=_joined(declared, caller.plain_parameters),
                body=f"{callee}({_joined(given, caller.arguments)})",
            )

    def callers(self, f: NativeFunction, *, method: bool) -> tuple[Caller, ...]:
        """The public signatures of `f`, spelled once: every backend has the same functions."""
        key = (f.full_name, method)
        found = self._callers.get(key)
        if found is None:
            found = self._callers[key] = tuple(self._spell_callers(f, method))
        return found

    def _spell_callers(self, f: NativeFunction, method: bool) -> Iterator[Caller]:
        schema = self.schema(f)
        wanted = self.signatures.dispatcher(f).arguments()
        for signature in self.cpp_signatures(f, method=method):
            given = signature.arguments()
            yield Caller(
                schema=schema,
                returns=self.type(signature.returns),
                name=signature.name,
                parameters=self.parameters(given),
                plain_parameters=self.parameters(given, defaults=False),
                names=tuple(b.name for b in given),
                arguments=", ".join(self.expressions(given, wanted, method=method)),
            )


def _joined(first: str, others: str) -> str:
    return f"{first}, {others}" if first and others else first or others


def operator_struct(f: NativeFunction) -> str:
    """`at::_ops::add_Tensor`."""
    return f"{operator_namespace(f.namespace)}::_ops::{operator_struct_name(f.func)}"
