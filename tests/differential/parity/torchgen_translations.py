#!/usr/bin/env python
"""Print, as JSON, torchgen's conversions between the C++ signatures of each operator.

    python torchgen_translations.py NATIVE_YAML TAGS_YAML OUT.json

One object per function: for every public signature (and method) the expressions that call the dispatcher, and for
every kernel those that call it from the dispatcher's signature.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from torchgen import gen
from torchgen.api.translate import translate
from torchgen.api.types import CppSignatureGroup, DispatcherSignature, NativeSignature
from torchgen.context import native_function_manager
from torchgen.model import NativeFunction, Variant


def expressions(have: Any, want: Any, *, method: bool = False) -> list[str]:
    return [e.expr for e in translate(have, want, method=method)]


def public(f: NativeFunction, *, method: bool) -> list[list[str]]:
    group = CppSignatureGroup.from_native_function(f, method=method)
    wanted = DispatcherSignature.from_schema(f.func).arguments()
    return [expressions(s.arguments(), wanted, method=method) for s in group.signatures()]


def kernels(f: NativeFunction, indices: Any) -> dict[str, list[str]]:
    have = DispatcherSignature.from_schema(f.func).arguments()
    found = {}
    for key, index in indices.items():
        kernel = index.index.get(f.func.name)
        if kernel is not None and not kernel.structured:
            native = NativeSignature(f.func, symint=kernel.supports_symint())
            found[str(key)] = expressions(have, native.arguments())
    return found


def describe(f: NativeFunction, indices: Any) -> dict[str, Any]:
    with native_function_manager(f):
        return {
            "name": f"{f.namespace}::{f.func.name}",
            "schema": str(f.func),
            "function": public(f, method=False),
            "method": public(f, method=True) if Variant.method in f.variants else [],
            "kernels": kernels(f, indices),
        }


def main(native: str, tags: str, out: str) -> None:
    parsed = gen.parse_native_yaml(native, tags)
    indices = dict(parsed.backend_indices)
    with open(out, "w", encoding="utf-8") as file:
        json.dump([describe(f, indices) for f in parsed.native_functions], file)


if __name__ == "__main__":
    main(*sys.argv[1:])
