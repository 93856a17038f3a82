"""Infer the schemas of operators that are defined by a name alone from the types of their C++ functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from opgen.importing.common.registrations import (
    CppSignature,
    CppType,
    Definition,
    Kernel,
    Names,
    NoSchemaType,
    Problems,
    Registration,
)
from opgen.importing.cpp.functions import CppFunction, Functions
from opgen.importing.cpp.macros import split_arguments
from opgen.importing.cpp.text import CppText
from opgen.model.native_function import AliasAnalysisKind


class Inference(Struct, frozen=True):
    """Infers schemas. `texts` are the sources by the identity of their Source; `classes` maps C++ names of custom
    classes to those in schemas."""

    functions: Functions
    texts: Mapping[int, CppText]
    classes: Mapping[str, str]
    problems: Problems

    def expand(self, registrations: Iterable[Registration]) -> Iterator[Registration]:
        """Yield all registrations, with schemas; without one, a warning replaces the operator and its kernel."""
        pending = iter(registrations)
        for one in pending:
            if not isinstance(one, Definition) or one.inferred_from is None:
                yield one
                continue
            row, rest = next(pending), self._schema(one, one.inferred_from)
            if rest is not None:
                # PyTorch knows nothing else of a function.
                kind = one.alias_analysis or AliasAnalysisKind.conservative
                yield replace(one, schema=f"{one.name}{rest}", alias_analysis=kind)
                yield row

    def _schema(self, alone: Definition, kernel: Kernel) -> str | None:
        text = self.texts.get(id(kernel.span.source))
        if text is None or (kernel.name is None and kernel.signature is None):
            self._report(alone, f"the types of {kernel.kind.value} are unknown")
            return None
        if kernel.signature is not None:
            return self._infer(alone, kernel.signature, self.functions.names_of(text))
        assert kernel.name is not None
        functions = self.functions.find(kernel.name, text, kernel.span.start)
        if not functions:
            self._report(alone, f"no given source declares '{kernel.name}'")
            return None
        return self._infer_from_functions(alone, kernel, functions)

    def _infer_from_functions(
        self, alone: Definition, kernel: Kernel, functions: tuple[CppFunction, ...]
    ) -> str | None:
        assert kernel.name is not None
        schemas: dict[str, CppFunction] = {}
        for function in functions:
            if bool(kernel.name.template) != bool(function.template) and not function.instance:
                continue
            if function.instance and function.instance != "".join(kernel.name.template.split()):
                continue
            signature = instantiate(function, kernel.name.template)
            schema = self._infer(alone, signature, self.functions.names_of(function.text))
            if schema is None:
                return None
            schemas.setdefault(schema, function)
        if len(schemas) == 1:
            return next(iter(schemas))
        if schemas:
            labels = [(f.span, "one of them") for f in schemas.values()]
            message = f"'{kernel.name}' is one of several functions"
            self.problems.warn("W1165", message, alone.span, labels=labels)
        else:
            self._report(alone, f"no given source declares '{kernel.name}'")
        return None

    def _infer(self, alone: Definition, signature: CppSignature, names: Names) -> str | None:
        try:
            return signature.schema(names, self.classes, alone.arguments)
        except NoSchemaType as problem:
            self._report(alone, f"PyTorch infers no schema from {problem}")
            return None

    def _report(self, alone: Definition, reason: str) -> None:
        message = f"'{alone.namespace}::{alone.name}' has no schema: {reason}"
        self.problems.warn("W1165", message, alone.span)


def instantiate(function: CppFunction, template: str) -> CppSignature:
    """Return the signature of `f<float>`: the template's parameters are replaced by its arguments."""
    if not function.template or not template:
        return function.signature
    values = dict(zip(function.template_names, split_arguments(template[1:-1])))
    return _substitute(function.signature, values)


def _substitute(signature: CppSignature, values: Mapping[str, str]) -> CppSignature:
    parameters = tuple(replace(p, type=_type(p.type, values)) for p in signature.parameters)
    returns = None if signature.returns is None else _type(signature.returns, values)
    return CppSignature(returns, parameters)


def _type(type_: CppType, values: Mapping[str, str]) -> CppType:
    name = "".join(values.get(type_.name, type_.name).split())
    if name.endswith(">"):
        # A template argument that is itself an instance of a template is not parsed: no schema is inferred from it.
        return CppType(name)
    arguments = tuple(_type(argument, values) for argument in type_.arguments)
    return CppType(name, arguments, type_.is_const, type_.mark)
