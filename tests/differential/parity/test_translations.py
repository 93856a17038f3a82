"""opgen makes the conversions between an operator's C++ signatures that torchgen makes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from compare import differences, report
from loading import load_registry

from opgen.cpp.signatures import Signatures
from opgen.cpp.translate import translate
from opgen.model.native_function import NativeFunction, Variant
from opgen.targets import TARGETS

_TORCH = TARGETS["torch"]


def _public(f: NativeFunction, *, method: bool) -> list[list[str]]:
    wanted = Signatures().dispatcher(f).arguments
    return [
        list(translate(s.arguments, wanted, _TORCH.cpp.conversions, method=method))
        for s in Signatures().cpp(f, method=method)
    ]


def _kernels(f: NativeFunction) -> dict[str, list[str]]:
    have = Signatures().dispatcher(f).arguments
    return {
        str(key): list(
            translate(
                have,
                Signatures().native(f, symint=kernel.supports_symint).arguments,
                _TORCH.cpp.conversions,
            )
        )
        for key, kernel in f.dispatch
        if not kernel.structured
    }


def _describe(f: NativeFunction) -> dict[str, Any]:
    return {
        "name": f.full_name,
        "schema": str(f.func),
        "function": _public(f, method=False),
        "method": _public(f, method=True) if Variant.method in f.variants else [],
        "kernels": _kernels(f),
    }


def test_conversions(source: Path, tmp_path: Path) -> None:
    """Protects calls: an argument that is passed on wrongly may compile and mean something else."""
    native, out = source / "native", tmp_path / "translations.json"
    script = Path(__file__).parent / "torchgen_translations.py"
    files = [native / "native_functions.yaml", native / "tags.yaml", out]
    subprocess.run([sys.executable, script, *files], check=True, capture_output=True)
    theirs = json.loads(out.read_text(encoding="utf-8"))
    ours = [_describe(f) for f in load_registry(native).functions]
    found = differences(ours, theirs)
    assert not found, report(found)
    assert len(ours) == len(theirs)
