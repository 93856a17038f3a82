"""Find the headers and registrations that the types of schemas need, mainly for custom classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from opgen.emit.common.base import Record, unique
from opgen.emit.common.context import Context
from opgen.model.native_function import NativeFunction
from opgen.model.types import CustomClassType, custom_classes


class ClassDefinition(Record, frozen=True):
    """The namespace of a custom class in PyTorch's registry, and the function that registers the class."""

    namespace: str
    define: str


def type_headers(context: Context, functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """Return the headers that declare the types in the schemas, including custom classes, with their quotes or angle brackets."""
    functions = [f for f in functions if f.is_library]
    texts = [
        context.spell.spelled(context.signatures.dispatcher(f)).function_type for f in functions
    ]
    headers = [
        header
        for name, header in context.target.cpp.type_headers.items()
        if any(re.search(rf"{re.escape(name)}\b", text) for text in texts)
    ]
    headers += (one.cpp.header for one in _classes(functions) if one.cpp is not None)
    return tuple(unique(headers))


def class_definitions(functions: Iterable[NativeFunction]) -> tuple[ClassDefinition, ...]:
    """Return the functions that register the classes of the schemas, unless they are registered elsewhere.

    Every source that registers schemas or kernels with a class requests the registration of the class first: PyTorch
    infers types from kernels, and the order in which sources are initialised is unknown.
    """
    found = unique(
        (one.class_name.partition(".")[0], one.cpp.define)
        for one in _classes(functions)
        if one.cpp is not None and one.cpp.define is not None
    )
    return tuple(ClassDefinition(namespace, define) for namespace, define in found)


def _classes(functions: Iterable[NativeFunction]) -> Iterator[CustomClassType]:
    for f in functions:
        if f.is_library:
            for type in (
                *(a.type for a in f.func.arguments.flat_all),
                *(r.type for r in f.func.returns),
            ):
                yield from custom_classes(type)
