"""Parse entries of a schema file alone, as tests of one stage need them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from opgen.diagnostics import Diagnostics, Source
from opgen.model.dispatch_key import DispatchKey
from opgen.model.native_function import NativeFunction
from opgen.model.profile import ATEN, TagSet
from opgen.parse.files.native_functions import parse_entries


def parse_native_functions(
    sources: Sequence[Source],
    tags: TagSet,
    ignore_keys: Collection[DispatchKey],
    diagnostics: Diagnostics,
    *,
    namespace: str | None = ATEN,
) -> tuple[NativeFunction, ...]:
    """Return the operators of the entries without errors. `namespace` is that of operators written without one."""
    return parse_entries(sources, tags, ignore_keys, diagnostics, namespace=namespace).functions
