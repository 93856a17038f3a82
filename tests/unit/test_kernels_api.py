"""docs/reference/kernels-api.md agrees with the headers of both targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.build import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "reference" / "kernels-api.md").read_text()
_RUNTIME = REPOSITORY / "runtime/include/opgen"
_TORCH = REPOSITORY / "runtime/torch/include/opgen"
_STABLE = REPOSITORY / "runtime/torch_stable/include/opgen"
_SHARED = [
    _RUNTIME / name
    for name in ("cpu/loops.h", "cpu/parallel_reduce.h", "cpu/random.h", "cpu/dim_mask.h")
]
_HEADERS = {
    "runtime": [
        *_SHARED,
        _RUNTIME / "core/parallel.h",
        *(_RUNTIME / "cpu" / f"{name}.h" for name in ("cpu_generator", "compare")),
        *(_RUNTIME / name for name in ("tensor_functions.h", "symint_functions.h")),
        *(
            _RUNTIME / "tensor" / f"{name}.h"
            for name in ("copy", "resize", "shape_utils", "promotion", "memory_overlap", "tensor")
        ),
    ],
    "torch": [
        *_SHARED,
        _TORCH / "core/parallel.h",
        _TORCH / "cpu/cpu_generator.h",
        _TORCH / "cpu/dim_mask.h",
        *(_TORCH / name for name in ("tensor_functions.h", "tensor/empty.h", "tensor/resize.h")),
    ],
}
# Target torch-stable has the runtime's headers, some of which others replace.
_HEADERS["torch-stable"] = [
    own if (own := _STABLE / path.relative_to(_RUNTIME)).exists() else path
    for path in _HEADERS["runtime"]
]
# ATen's own functions with the same signature, by a using-declaration.
_OF_ATEN = re.compile(r"using at::(\w+);")


_LOOPS = (REPOSITORY / "docs" / "reference" / "loops.md").read_text()


def _promised() -> list[str]:
    return re.findall(r"^\| `([^`]*\))` \|", _PAGE, re.MULTILINE)


def _normal(signature: str) -> str:
    """Normalise a declaration: without attributes, the runtime's template and its wider argument types."""
    text = re.sub(r"\[\[nodiscard\]\]|\b(inline|constexpr|OPGEN_API|noexcept)\b", "", signature)
    text = re.sub(r"\bTensorBase\b", "Tensor", text)
    text = re.sub(r"^T (?=\w+\()", "Tensor ", " ".join(text.split()))
    return re.sub(r"\( ", "(", text)


def _declared(target: str) -> set[str]:
    text = "\n".join(path.read_text() for path in _HEADERS[target])
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"template <class[^>]*>", "", text)
    pattern = r"(?:^|(?<=[;{}\n]))\s*((?:\[\[nodiscard\]\]\s*)?[\w:<>&*\s]+?\b\w+\((?:[^()]|\([^()]*\))*\))\s*(?:noexcept\s*)?[;{]"
    return {_normal(match) for match in re.findall(pattern, text)}


@pytest.mark.parametrize("target", ["runtime", "torch", "torch-stable"])
def test_every_function_of_the_page_is_declared(target: str) -> None:
    """Protects the promise that names and arguments are the same for both targets."""
    declared = _declared(target)
    text = "\n".join(path.read_text() for path in _HEADERS[target])
    borrowed = set(_OF_ATEN.findall(text))
    missing = [
        signature
        for signature in _promised()
        if _normal(signature) not in declared
        and re.search(r"(\w+)\(", signature).group(1) not in borrowed  # type: ignore[union-attr]
    ]
    assert missing == []
    assert len(_promised()) > 50


@pytest.mark.parametrize("header", _SHARED, ids=lambda header: header.name)
def test_both_targets_read_one_header(header: Path) -> None:
    """Protects against a second set of functions: target torch includes the runtime's header."""
    name = header.relative_to(_RUNTIME)
    assert f'#include "../../../../include/opgen/{name}"' in (_TORCH / name).read_text()


def test_the_test_of_both_targets_calls_every_function() -> None:
    """Protects against a function that tests/integration/run/test_tensor_functions.py does not call."""
    folder = REPOSITORY / "tests/integration/run/tensor_functions"
    source = "".join(path.read_text() for path in folder.glob("*.cpp"))
    names = {re.search(r"(\w+)\(", signature).group(1) for signature in _promised()}  # type: ignore[union-attr]
    called = set(re.findall(r"opgen::(\w+)(?:<\w+(?:::\w+)?>)?\(", source))
    assert sorted(names - called) == []
    # What the other page lists for both targets.
    tables = re.sub(r"## Reductions.*?(?=\n## )", "", _LOOPS, flags=re.DOTALL)
    both = "".join(row for row in tables.splitlines(keepends=True) if "target runtime" not in row)
    listed = set(re.findall(r"`opgen::(?:TensorIterator::)?(\w+)(?:<\w+>)?\(", both))
    assert len(listed) > 20
    assert sorted(name for name in listed if not re.search(rf"::{name}\b", source)) == []


def _public() -> set[str]:
    """Functions and types that the runtime's headers declare in opgen::tensor_functions."""
    names: set[str] = set()
    for path in _HEADERS["runtime"]:
        text = re.sub(r"//[^\n]*", "", path.read_text())
        for block in re.findall(
            r"^namespace tensor_functions \{(.*?)^\}\s*(?=using namespace tensor_functions)",
            text,
            re.MULTILINE | re.DOTALL,
        ):
            names |= set(re.findall(r"^(?:struct|enum class|using) (\w+)", block, re.MULTILINE))
            declared = (
                r"^(?:\[\[nodiscard\]\] )?(?:inline |constexpr |OPGEN_API )*[\w:<>]+[&*]?\s+(\w+)\("
            )
            names |= set(re.findall(declared, block, re.MULTILINE))
    return names


def test_public_functions_are_on_the_page() -> None:
    """Protects against a public function that the page does not mention."""
    public = _public()
    assert {"empty", "copy_", "DimMask", "register_device_copy", "as_strided"} <= public
    assert len(public) > 60
    assert sorted(name for name in public if name not in _PAGE + _LOOPS) == []


def test_kernels_use_only_public_names() -> None:
    """Protects our kernels as examples: they use only public names, and add nothing to the runtime's namespace."""
    folders = ("kernels", "examples", "benchmarks", "templates/new", "docs")
    sources = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.*")]
    sources = [path for path in sources if path.suffix in (".cpp", ".h", ".j2", ".md")]
    sources = [path for path in sources if "generated" not in path.parts]
    assert len(sources) > 60
    # These say what detail is.
    pages = [REPOSITORY / "docs" / p for p in ("reference/kernels-api.md", "guides/versions.md")]
    private = re.compile(r"\bopgen::detail\b|^namespace opgen\b", re.MULTILINE)
    found = [path for path in sources if path not in pages and private.search(path.read_text())]
    assert found == []
