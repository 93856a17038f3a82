"""Selective-build files: opgen's Selector gives the answers of torchgen's SelectiveBuilder, and rejects the same
files.

The cases at the top are those of src/opgen/data/torchgen_cases.md; many more are random.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from loading import load_registry

from opgen.diagnostics import Diagnostics, Source
from opgen.model.selector import Selector, merge, select
from opgen.parse.files.selective import parse_selective

_NAMES = (
    "aten::add",
    "aten::add.Tensor",
    "aten::add.out",
    "aten::neg",
    "other::foo",
    "aten::x.y.z",
)
_ASKED = (*_NAMES, "aten::neg.out", "aten::add.", "aten", "", "aten::x.y", "aten::x")
_TAGS = ("add_cpu", "neg_cpu", "other")
_DTYPES = ("Float", "Long", "Half")

# Files that torchgen rejects (S) or crashes on (SC), by number; opgen reports the code.
_REFUSED = {
    "S01": ("foo: 1\n", "E0842"),
    "S02": ("include_all_operators: 1\n", "E0843"),
    "S03": ("debug_info: x\n", "E0843"),
    "S04": ("operators: [a]\n", "E0843"),
    "S05": ("kernel_metadata: []\n", "E0843"),
    "S05 et": ("et_kernel_metadata: []\n", "E0843"),
    "S05 classes": ("custom_classes: 3\n", "E0843"),
    "S05 features": ("build_features:\n", "E0843"),
    "S05 non-op": ("include_all_non_op_selectives: x\n", "E0843"),
    "S06": ("operators:\n  aten::add: {foo: 1}\n", "E0842"),
    "S07": ("operators:\n  aten::add: {name: x}\n", "E0844"),
    "S08 root": ("operators:\n  aten::add: {is_root_operator: 1}\n", "E0843"),
    "S08 training": ("operators:\n  aten::add: {is_used_for_training: 1}\n", "E0843"),
    "S08 overloads": ("operators:\n  aten::add: {include_all_overloads: 1}\n", "E0843"),
    "S08 debug": ("operators:\n  aten::add: {debug_info: 1}\n", "E0843"),
    "SC1": ("", "E0841"),
    "SC1 text": ("abc\n", "E0841"),
    "SC2": ("1: 1\n", "E0842"),
    "SC3": ("operators:\n  aten::add:\n", "E0843"),
    "SC3 list": ("operators:\n  aten::add: []\n", "E0843"),
    "SC4": ("kernel_metadata: {a: null}\n", "E0843"),
    "SC4 number": ("kernel_metadata: {a: 3}\n", "E0843"),
    "SC5": ("custom_classes: [[1]]\n", "E0843"),
}
# Files that torchgen accepts, and opgen does not.
_STRICTER = {
    "SA1": ("custom_classes: abc\n", "E0843"),
    "SA1 dtypes": ("kernel_metadata: {a: Float}\n", "E0843"),
    "SA2": ("operators: {}\noperators: {}\n", "E0103"),
    "SA3": ("kernel_metadata: {a: {Float: 1}}\n", "E0843"),
    "SA4": ("et_kernel_metadata: {a: 3}\n", "E0843"),
}


@pytest.fixture(scope="module", autouse=True)
def _torchgen(packaged: Path) -> Path:
    """Skip all tests of this file without torch."""
    return packaged


def _ours(text: str) -> tuple[Selector, list[str]]:
    diagnostics = Diagnostics()
    found = parse_selective(Source("selective.yaml", text), diagnostics)
    return found, [d.code for d in diagnostics if d.severity.value == "error"]


def _theirs(*texts: str) -> Any:
    from torchgen_neighbours import selector  # noqa: PLC0415 - torch may not be there

    return selector(*texts)


def _answers(selector: Any) -> list[bool]:
    return [selector.is_operator_selected(name) for name in _ASKED]


@pytest.mark.parametrize("number", _REFUSED)
def test_both_reject(number: str) -> None:
    text, code = _REFUSED[number]
    with pytest.raises(Exception):  # noqa: B017 - torchgen raises exceptions of any class
        _theirs(text)
    assert set(_ours(text)[1]) == {code}


@pytest.mark.parametrize("number", _STRICTER)
def test_only_opgen_rejects(number: str) -> None:
    text, code = _STRICTER[number]
    assert _theirs(text) is not None
    assert set(_ours(text)[1]) == {code}


def _draw(number: int) -> str:
    """Return a file that both accept."""
    r = random.Random(number)
    operators = {}
    for name in r.sample(_NAMES, r.randrange(len(_NAMES))):
        entry: dict[str, object] = {}
        for flag in ("is_root_operator", "is_used_for_training", "include_all_overloads"):
            if r.random() < 0.6:
                entry[flag] = r.random() < 0.5
        if r.random() < 0.3:
            entry["name"] = name
        if r.random() < 0.3:
            entry["debug_info"] = r.sample(["a", "b", 3], 2)
        operators[name] = entry
    content: dict[str, object] = {"operators": operators}
    if r.random() < 0.1:
        content["include_all_operators"] = r.random() < 0.5
    if r.random() < 0.2:
        content["include_all_non_op_selectives"] = r.random() < 0.5
    if r.random() < 0.6:
        content["kernel_metadata"] = {
            tag: r.sample(_DTYPES, r.randrange(3)) for tag in r.sample(_TAGS, r.randrange(3))
        }
    if r.random() < 0.2:
        content["et_kernel_metadata"] = {"aten::add": ["v1/6;0,1", "default"]}
    if r.random() < 0.2:
        content["custom_classes"] = ["__torch__.x"]
    if r.random() < 0.2:
        content["build_features"] = ["NNAPI", "NNAPI"]
    if r.random() < 0.2:
        content["debug_info"] = ["m@1", 2]
    return yaml.safe_dump(content)


@pytest.mark.parametrize("number", range(500))
def test_the_same_answers(number: str) -> None:
    text = _draw(int(number))
    ours, codes = _ours(text)
    theirs = _theirs(text)
    assert not codes
    assert _answers(ours) == _answers(theirs)


@pytest.mark.parametrize("number", range(500))
def test_the_same_answers_of_several_files(number: int) -> None:
    texts = [_draw(3 * number + i) for i in range(1 + number % 3)]
    ours = merge(_ours(text)[0] for text in texts)
    assert _answers(ours) == _answers(_theirs(*texts))


@pytest.mark.parametrize("number", range(50))
def test_a_list_of_names_is_the_older_form(number: int) -> None:
    from torchgen_neighbours import legacy_selector  # noqa: PLC0415 - torch may not be there

    r = random.Random(number)
    names = r.sample(_NAMES, r.randrange(1, len(_NAMES)))
    ours, codes = _ours("".join(f"- {name}\n" for name in names))
    assert not codes
    assert _answers(ours) == _answers(legacy_selector(set(names)))


@pytest.mark.slow
def test_the_same_operators_of_pytorch(packaged: Path) -> None:
    """Protects the look-up by namespace and overload, including generated variants."""
    registry = load_registry(packaged / "native")
    r = random.Random(0)
    names = r.sample([f.full_name for f in registry.functions], 200)
    entries = {
        (name if r.random() < 0.5 else name.partition(".")[0]): {
            "include_all_overloads": r.random() < 0.5
        }
        for name in names
    }
    text = yaml.safe_dump({"operators": entries})
    theirs = _theirs(text)
    ours = select(registry, _ours(text)[0], Diagnostics())
    wanted = {f.full_name for f in registry.functions if theirs.is_operator_selected(f.full_name)}
    assert ours.operators == wanted and len(wanted) > 200
