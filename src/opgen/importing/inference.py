"""Schemas of operators that are defined by a name alone, from the types of their C++ functions."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opgen.dataclasses import dataclass, field, replace
from opgen.importing import codes
from opgen.importing.cpp_functions import CppFunction, Functions
from opgen.importing.cpp_kernels import find_function_name
from opgen.importing.cpp_macros import split_arguments
from opgen.importing.cpp_text import CppText
from opgen.importing.cpp_types import Aliases, CppSignature, CppType, NoSchemaType
from opgen.importing.problems import Problems
from opgen.importing.registrations import Definition, Implementation, Kernel, NameAlone

_TEMPLATE_PARAMETER = re.compile(r"(?:typename|class|bool|int|int64_t|size_t|auto|[\w:]+)\s+(\w+)")


@dataclass(frozen=True, slots=True)
class Inference:
    """`texts` are the sources by the identity of their Source; `classes` custom classes by their names in C++."""

    functions: Functions = field(repr=False)
    texts: Mapping[int, CppText] = field(repr=False)
    classes: Mapping[str, str]
    problems: Problems

    def expand(self, found: NameAlone) -> tuple[Definition | Implementation, ...]:
        """The operator with its schema, and its row; nothing, and a report, if there is no schema."""
        rest = self._schema(found)
        if rest is None:
            return ()
        schema = f"{found.name}{rest}"
        definition = Definition(
            found.namespace, schema, found.span, found.conditions, found.tags, is_inferred=True
        )
        row = Implementation(
            found.namespace, found.name, found.key, found.kernel, found.span, found.conditions
        )
        return definition, row

    def _schema(self, found: NameAlone) -> str | None:
        text = self.texts.get(id(found.kernel.span.source))
        kernel = found.kernel
        if text is None or (kernel.name is None and kernel.signature is None):
            self._report(found, f"nothing says which types {kernel.kind.value} has")
            return None
        if kernel.signature is not None:
            return self._of(found, kernel.signature, self.functions.names_of(text).aliases)
        assert kernel.name is not None
        functions = self.functions.find(kernel.name, text, kernel.span.start)
        if not functions:
            self._report(found, f"no given source declares '{kernel.name}'")
            return None
        return self._of_functions(found, kernel, functions)

    def _of_functions(
        self, found: NameAlone, kernel: Kernel, functions: tuple[CppFunction, ...]
    ) -> str | None:
        assert kernel.name is not None
        schemas: dict[str, CppFunction] = {}
        for function in functions:
            if bool(kernel.name.template) != bool(function.template) and not function.instance:
                continue
            if function.instance and function.instance != "".join(kernel.name.template.split()):
                continue
            signature = _instantiated(function, kernel.name.template)
            aliases = self.functions.names_of(function.text).aliases
            schema = self._of(found, signature, aliases)
            if schema is None:
                return None
            schemas.setdefault(schema, function)
        if len(schemas) == 1:
            return next(iter(schemas))
        if schemas:
            labels = [(f.span, "one") for f in schemas.values()]
            message = f"'{kernel.name}' is one of several functions"
            self.problems.warn(codes.NO_SCHEMA, message, found.span, labels=labels)
        else:
            self._report(found, f"no given source declares '{kernel.name}'")
        return None

    def _of(self, found: NameAlone, signature: CppSignature, aliases: Aliases) -> str | None:
        try:
            return signature.schema(aliases, self.classes)
        except NoSchemaType as problem:
            self._report(found, f"PyTorch infers no schema from {problem}")
            return None

    def _report(self, found: NameAlone, why: str) -> None:
        message = f"'{found.namespace}::{found.name}' has no schema: {why}"
        self.problems.warn(codes.NO_SCHEMA, message, found.span)


def _instantiated(function: CppFunction, template: str) -> CppSignature:
    """The signature of `f<float>`: with its arguments in the place of the template's parameters."""
    if not function.template or not template:
        return function.signature
    names = []
    for parameter in split_arguments(function.template[1:-1]):
        found = _TEMPLATE_PARAMETER.match(parameter)
        names.append("" if found is None else found[1])
    values = dict(zip(names, split_arguments(template[1:-1])))
    return _substituted(function.signature, values)


def _substituted(signature: CppSignature, values: Mapping[str, str]) -> CppSignature:
    parameters = tuple(replace(p, type=_type(p.type, values)) for p in signature.parameters)
    returns = None if signature.returns is None else _type(signature.returns, values)
    return CppSignature(returns, parameters)


def _type(type_: CppType, values: Mapping[str, str]) -> CppType:
    name = "".join(values.get(type_.name, type_.name).split())
    path = find_function_name(name)
    if path is not None and path.template:
        # A template argument that is itself a template is not taken apart: nothing is inferred from it.
        return CppType(name)
    arguments = tuple(_type(argument, values) for argument in type_.arguments)
    return CppType(name, arguments, type_.is_const, type_.mark)
