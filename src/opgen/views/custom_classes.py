"""Custom classes in schemas into what generated C++ includes and calls for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.model.native_function import NativeFunction
from opgen.model.types import CustomClassType, custom_classes
from opgen.views.base import unique, view


@view
class ClassDefinition:
    """The namespace of a class among PyTorch's, and the function that registers it there."""

    namespace: str
    define: str


def class_headers(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The headers that declare the classes in the schemas, as they stand behind `#include`."""
    return tuple(unique(one.cpp.header for one in _classes(functions) if one.cpp is not None))


def class_definitions(functions: Iterable[NativeFunction]) -> tuple[ClassDefinition, ...]:
    """What registers the classes in the schemas, where they are not registered already.

    Every source that registers schemas or kernels with a class asks for it: PyTorch infers types from kernels, and the order in
    which sources are initialised is not known.
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
