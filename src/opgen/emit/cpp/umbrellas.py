"""Headers that include one header per operator: Functions.h, Operators.h and so on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.emit.common.base import GeneratedFile
from opgen.emit.common.context import Context
from opgen.emit.cpp.dispatch_headers import dispatch_header_roots
from opgen.emit.kernels.headers import meta_roots


class UmbrellaHeader(GeneratedFile, frozen=True):
    name: str
    purpose: str
    includes: tuple[str, ...]


def build_umbrellas(context: Context) -> Iterator[GeneratedFile]:
    """Build Functions.h, Operators.h, NativeFunctions.h, NativeMetaFunctions.h and a <Key>Functions.h per key."""
    roots = context.roots
    yield _umbrella(context, "Functions.h", "every operator as a function", roots, "")
    yield _umbrella(
        context, "Operators.h", "every operator as the dispatcher knows it", roots, "_ops"
    )
    yield _umbrella(context, "NativeFunctions.h", "every kernel", roots, "_native")
    yield _umbrella(
        context, "NativeMetaFunctions.h", "every meta class", meta_roots(context), "_meta"
    )
    for key, key_roots in dispatch_header_roots(context).items():
        yield _umbrella(
            context,
            f"{key.name}Functions.h",
            f"every operator on {key.name}, without the dispatcher",
            key_roots,
            f"_{key.name.lower()}_dispatch",
        )


def _umbrella(
    context: Context, name: str, purpose: str, roots: Iterable[str], suffix: str
) -> UmbrellaHeader:
    return UmbrellaHeader(
        path=f"include/{context.library.name}/{name}",
        template="Umbrella.h.j2",
        name=name,
        purpose=purpose,
        includes=tuple(sorted(context.library.header(f"ops/{root}{suffix}.h") for root in roots)),
    )
