"""Custom classes in schemas into what generated C++ includes and calls for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.model.native_function import NativeFunction
from opgen.model.types import CppClass, custom_classes
from opgen.views.base import unique


def class_headers(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The headers that declare the classes in the schemas, as they stand behind `#include`."""
    return tuple(unique(cpp.header for cpp in _classes(functions)))


def class_definitions(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The functions that register the classes in the schemas, where they are not registered already."""
    return tuple(unique(cpp.define for cpp in _classes(functions) if cpp.define is not None))


def _classes(functions: Iterable[NativeFunction]) -> Iterator[CppClass]:
    for f in functions:
        if f.is_library:
            for type in (
                *(a.type for a in f.func.arguments.flat_all),
                *(r.type for r in f.func.returns),
            ):
                yield from (one.cpp for one in custom_classes(type) if one.cpp is not None)
