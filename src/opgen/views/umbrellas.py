"""Headers that include one header per operator: Functions.h, Operators.h and their like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.views.base import FileView, view
from opgen.views.context import Context
from opgen.views.dispatch_headers import dispatch_header_roots
from opgen.views.kernel_headers import meta_roots


@view
class UmbrellaView(FileView):
    name: str
    purpose: str
    includes: tuple[str, ...]


def build_umbrellas(context: Context) -> Iterator[FileView]:
    """Functions.h, Operators.h, NativeFunctions.h, NativeMetaFunctions.h and a <Key>Functions.h per key."""
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
            f"every operator on {key.name}, past the dispatcher",
            key_roots,
            f"_{key.name.lower()}_dispatch",
        )


def _umbrella(
    context: Context, name: str, purpose: str, roots: Iterable[str], suffix: str
) -> UmbrellaView:
    return UmbrellaView(
        path=f"include/{context.library.name}/{name}",
        template="Umbrella.h.j2",
        name=name,
        purpose=purpose,
        includes=tuple(context.library.header(f"ops/{root}{suffix}.h") for root in roots),
    )
