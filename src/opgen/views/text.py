"""Signatures as the target spells them: the strings that views hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opgen.cpp.cpp_types import CType
from opgen.cpp.names import operator_namespace, operator_struct_name
from opgen.cpp.signatures import (
    Binding,
    CppSignature,
    CppSignatureGroup,
    DispatcherSignature,
    NativeSignature,
    parameters,
)
from opgen.cpp.spelling import spell
from opgen.cpp.translate import translate
from opgen.model.native_function import NativeFunction
from opgen.targets.base import Target
from opgen.views.base import FunctionView

Signature = CppSignature | DispatcherSignature | NativeSignature


@dataclass(frozen=True, slots=True)
class Speller:
    """Spells the signatures of one target."""

    target: Target

    def type(self, ctype: CType) -> str:
        return spell(ctype, self.target.spelling)

    def parameters(self, bindings: Iterable[Binding], *, defaults: bool = True) -> str:
        """`const Tensor& self, const Scalar& alpha = 1`."""
        return parameters(tuple(bindings), self.target.spelling, defaults=defaults)

    def types(self, bindings: Iterable[Binding]) -> str:
        """`const Tensor&, const Scalar&`."""
        return ", ".join(self.type(b.type) for b in bindings)

    def function_type(self, signature: Signature) -> str:
        """`Tensor(const Tensor&, const Scalar&)`."""
        return f"{self.type(signature.returns)}({self.types(signature.arguments())})"

    def expressions(
        self, have: Sequence[Binding], want: Sequence[Binding], *, method: bool = False
    ) -> list[str]:
        """The arguments `want`, as expressions over the bindings `have`."""
        return list(translate(have, want, self.target.conversions, method=method))

    def cpp_signatures(self, f: NativeFunction, *, method: bool) -> tuple[CppSignature, ...]:
        """The public C++ signatures of `f` that this target has, plain before faithful."""
        group = CppSignatureGroup.from_native_function(f, method=method)
        signatures = [group.signature, group.faithful_signature]
        if self.target.symint_overloads:
            signatures += [group.symint_signature, group.symint_faithful_signature]
        return tuple(s for s in signatures if s is not None)

    def function(
        self,
        f: NativeFunction,
        signature: CppSignature,
        callee: str,
        *,
        first: Sequence[Binding] = (),
    ) -> FunctionView:
        """A function of `signature` that calls `callee`, which takes the dispatcher's arguments.

        Both take the parameters `first` before all others.
        """
        given = signature.arguments()
        wanted = DispatcherSignature.from_native_function(f).arguments()
        arguments = [b.name for b in first]
        arguments += self.expressions(given, wanted, method=signature.method)
        return FunctionView(
            schema=str(f.func),
            returns=self.type(signature.returns),
            name=signature.name,
            parameters=self.parameters((*first, *given)),
            plain_parameters=self.parameters((*first, *given), defaults=False),
            body=f"{callee}({', '.join(arguments)})",
        )


def operator_struct(f: NativeFunction) -> str:
    """`at::_ops::add_Tensor`."""
    return f"{operator_namespace(f.namespace)}::_ops::{operator_struct_name(f.func)}"
