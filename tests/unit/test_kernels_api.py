"""docs/kernels-api.md says what both targets' headers declare."""

from __future__ import annotations

import re

import pytest

from support.build import REPOSITORY

_PAGE = (REPOSITORY / "docs" / "kernels-api.md").read_text()
_RUNTIME = REPOSITORY / "runtime/include/opgen"
_TORCH = REPOSITORY / "runtime/torch/include/opgen"
_HEADERS = {
    "runtime": [
        _RUNTIME / f"{name}.h"
        for name in (
            *("tensor_functions", "copy", "resize", "shape_utils", "promotion"),
            *("memory_overlap", "tensor"),
        )
    ],
    "torch": [_TORCH / f"{name}.h" for name in ("tensor_functions", "empty", "resize")],
}
# ATen's own, of the same signature, by a using-declaration.
_OF_ATEN = re.compile(r"using at::(\w+);")


def _promised() -> list[str]:
    return re.findall(r"^\| `([^`]*\))` \|", _PAGE, re.MULTILINE)


def _normal(signature: str) -> str:
    """Without what callers do not see: attributes, the runtime's template and its wider arguments."""
    text = re.sub(r"\[\[nodiscard\]\]|\b(inline|constexpr|OPGEN_API|noexcept)\b", "", signature)
    text = re.sub(r"\bTensorBase\b", "Tensor", text)
    text = re.sub(r"^T (?=\w+\()", "Tensor ", " ".join(text.split()))
    return re.sub(r"\( ", "(", text)


def _declared(target: str) -> set[str]:
    text = "\n".join(path.read_text() for path in _HEADERS[target])
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"template <class T = Tensor>|template <class\.\.\. T>", "", text)
    pattern = r"(?:^|(?<=[;{}\n]))\s*((?:\[\[nodiscard\]\]\s*)?[\w:<>&*\s]+?\b\w+\((?:[^()]|\([^()]*\))*\))\s*(?:noexcept\s*)?[;{]"
    return {_normal(match) for match in re.findall(pattern, text)}


@pytest.mark.parametrize("target", ["runtime", "torch"])
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


def test_the_test_of_both_targets_calls_every_function() -> None:
    """Protects tests/run/test_tensor_functions.py from a function that it forgets."""
    source = (REPOSITORY / "tests/run/tensor_functions/kernels.cpp").read_text()
    names = {re.search(r"(\w+)\(", signature).group(1) for signature in _promised()}  # type: ignore[union-attr]
    assert sorted(name for name in names if f"opgen::{name}(" not in source) == []


def test_public_functions_are_on_the_page() -> None:
    """Protects the page from a public function that it leaves out."""
    text = (_RUNTIME / "tensor_functions.h").read_text()
    public = set(re.findall(r"using detail::(\w+);", text))
    public |= set(re.findall(r"\b(\w+)\((?:const TensorBase&|IntArrayRef|SymIntArrayRef)", text))
    public -= {"T", "detail"}
    assert sorted(name for name in public if f"{name}" not in _PAGE) == []


def test_our_own_kernels_say_nothing_of_detail() -> None:
    """Protects examples of how kernels are written: what they use is public."""
    folders = ("kernels", "examples", "templates/new")
    sources = [path for folder in folders for path in (REPOSITORY / folder).rglob("*.*")]
    sources = [path for path in sources if path.suffix in (".cpp", ".h", ".j2")]
    assert len(sources) > 30
    assert [path for path in sources if "opgen::detail::" in path.read_text()] == []
