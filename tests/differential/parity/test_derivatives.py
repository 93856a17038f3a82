"""opgen derives from derivatives.yaml what torchgen derives, and rejects what it rejects.

The fields are those of torchgen_derivatives.py, which calls torchgen itself.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from compare import differences, report
from msgspec.structs import replace

from opgen.data import target_templates
from opgen.diagnostics import Diagnostics, describe
from opgen.emit.cpp.derivatives import build_derivatives
from opgen.pipeline.generating import checked_context
from opgen.pipeline.inputs import Inputs, with_contents
from opgen.pipeline.loading import load
from opgen.pipeline.queries import dump
from opgen.templating.render import Renderer
from support.error_cases import PAGE, error_cases
from support.nodes import check_nodes

HERE = Path(__file__).parent
OPERATORS = HERE.parents[1] / "golden" / "errors" / "fixtures" / "differentiable.yaml"
EXAMPLES = [case for case in error_cases() if case.page == PAGE and case.code.startswith("E12")]
# torchgen ignores a formula given together with 'dispatch', uses the later of two entries, and leaves names, types and
# numbers of gradients to the C++ compiler.
STRICTER = {
    "E1204",
    "E1206",
    "E1211",
    "E1231",
    "E1232",
    "E1233",
    "E1234",
    "E1235",
    "E1236",
    "E1239",
}
# Rules about what torchgen's language does not have.
OF_LIBRARIES = {"E1237", "E1238", "E1244", "E1245", "E1246"}
# Keys of devices that many libraries leave out, as benchmarks/generate.py does.
IGNORED = ("MPS", "SparseMPS", "SparseCsrMPS", "XPU", "MTIA")


def inputs_of(native: Path, tags: Path, derivatives: Path) -> Inputs:
    return Inputs(
        (native,), tags=tags, target="torch", strict_torchgen=True, derivatives=(derivatives,)
    )


def derive(inputs: Inputs) -> tuple[list[dict[str, Any]], list[str]]:
    """Return opgen's rows, and the codes of its errors."""
    diagnostics = Diagnostics()
    registry = load(inputs, diagnostics)
    rows = (
        [] if registry is None else dump(registry, inputs, "derivatives", None, False, diagnostics)
    )
    return rows, [item.code for item in diagnostics.errors()]


class PyTorchs(NamedTuple):
    """PyTorch's own files, and what torchgen derives from them."""

    native: Path
    tags: Path
    derivatives: Path
    rows: list[dict[str, Any]]


@pytest.fixture(scope="module")
def pytorchs(packaged: Path, tmp_path_factory: pytest.TempPathFactory) -> PyTorchs:
    native, tags = packaged / "native/native_functions.yaml", packaged / "native/tags.yaml"
    derivatives = packaged.parent / "autograd/derivatives.yaml"
    out = tmp_path_factory.mktemp("facts") / "facts.json"
    script = [sys.executable, str(HERE / "torchgen_derivatives.py"), "-o", str(out)]
    files = [str(native), str(tags), str(derivatives)]
    subprocess.run([*script, *files], check=True, capture_output=True)
    return PyTorchs(native, tags, derivatives, json.loads(out.read_text(encoding="utf-8")))


# Texts, comments, and names of members and of namespaces: torchgen takes each word of these for a value.
NO_VALUES = re.compile(r'"[^"]*"|/\*.*?\*/|(?:\.|->|::)\w+')


def with_values_alone(found: Any) -> Any:
    """Return torchgen's rows without what it saves for a word of a formula that is no value."""
    if isinstance(found, list):
        return [with_values_alone(one) for one in found]
    if not isinstance(found, dict):
        return found
    row = {key: with_values_alone(value) for key, value in found.items()}
    if "saved_inputs" in row:
        formulas = row.get("formulas", [row])
        values = {w for f in formulas for w in re.findall(r"\w+", NO_VALUES.sub("", f["formula"]))}
        for key in ("saved_inputs", "saved_outputs"):
            row[key] = [one for one in row[key] if one[0] in values]
    return row


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [(), ("--target", "torch", "--strict-torchgen")], ids=["plain", "torch"]
)
def test_installed_torch(pytorchs: PyTorchs, options: tuple[str, ...]) -> None:
    """Protects the claim itself: no field of any function differs from the installed torchgen's, with no option, too.

    Only words that are no values are not saved.
    """
    command = [sys.executable, "-m", "opgen", "dump", "--stage", "derivatives"]
    files = [str(pytorchs.native), "--derivatives", str(pytorchs.derivatives)]
    done = subprocess.run([*command, *files, *options], check=True, capture_output=True, text=True)
    ours, theirs = json.loads(done.stdout), with_values_alone(pytorchs.rows)
    found = differences(ours, theirs)
    assert not found, report(found)
    assert len(ours) == len(theirs) > 3000
    assert sum(row["kernel"] == "formula" for row in ours) > 1000


@pytest.mark.slow
def test_ignored_keys(pytorchs: PyTorchs) -> None:
    """Without its row for MPS, max_pool2d is made of other operators. Its formulas are left out, and no others are."""
    inputs = inputs_of(pytorchs.native, pytorchs.tags, pytorchs.derivatives)
    ours, errors = derive(replace(inputs, ignore_keys=IGNORED))
    assert not errors
    theirs = {row["name"]: row for row in with_values_alone(pytorchs.rows)}
    changed = {row["name"] for row in ours if row["keys"] != theirs[row["name"]]["keys"]}
    assert changed == {"aten::max_pool2d"}


def test_every_entry_generates_a_node(pytorchs: PyTorchs) -> None:
    """Protects the generated text for each of PyTorch's 687 entries; nightly, it is compiled for target torch."""
    inputs = Inputs((pytorchs.native,), tags=pytorchs.tags, derivatives=(pytorchs.derivatives,))
    context = checked_context(with_contents(inputs), Diagnostics())
    assert context is not None
    renderer = Renderer(*target_templates(context.target.plan.templates))
    texts = map(renderer.render, build_derivatives(context))
    assert check_nodes(pytorchs.derivatives, context.gradients, texts) == 687


class Peer:
    """torchgen, for small files that it reads from `folder`."""

    def __init__(self, packaged: Path, folder: Path) -> None:
        self.tags = packaged / "native" / "tags.yaml"
        self.folder = folder
        self.files = 0

    def derive(self, native: Path, text: str) -> tuple[Path, list[dict[str, Any]] | Exception]:
        """Return the file with `text`, and torchgen's rows or its error."""
        import torchgen_derivatives  # noqa: PLC0415

        # torchgen remembers the result for each path.
        self.files += 1
        path = self.folder / f"{self.files}.yaml"
        path.write_text(text, encoding="utf-8")
        try:
            return path, torchgen_derivatives.rows(str(native), str(self.tags), str(path))
        except Exception as error:
            return path, error


@pytest.fixture
def peer(packaged: Path, tmp_path: Path) -> Peer:
    return Peer(packaged, tmp_path)


@pytest.mark.parametrize("code", [case.code for case in EXAMPLES if case.code not in OF_LIBRARIES])
def test_the_examples_of_the_codes(peer: Peer, code: str) -> None:
    """Protects against rules that torchgen does not have, and fixes that it does not accept."""
    example = describe(code).example
    assert example is not None
    _, rejected = peer.derive(OPERATORS, example.failing)
    if code not in STRICTER and not _is_of_emission(code):
        assert isinstance(rejected, Exception), rejected
    path, theirs = peer.derive(OPERATORS, example.fixed)
    assert not isinstance(theirs, Exception), theirs
    ours, errors = derive(inputs_of(OPERATORS, peer.tags, path))
    assert not errors
    found = differences(ours, theirs)
    assert not found, report(found)


def _is_of_emission(code: str) -> bool:
    """Return whether torchgen reports the error only when it writes the kernels, which the peer does not do."""
    return code in ("E1229", "E1230")


@pytest.mark.slow
def test_mutated_entries(packaged: Path, peer: Peer) -> None:
    """Protects the words of formulas and the names of keys: PyTorch's entries, each with one part changed."""
    drawn = random.Random(2026)
    native = packaged / "native" / "native_functions.yaml"
    text = (packaged.parent / "autograd" / "derivatives.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^- name: .*\n(?:(?!- name:).*\n)*", text, re.MULTILINE)
    schemas = _functions_by_root(native)
    agreed = 0
    for number, entry in enumerate(drawn.sample(entries, 120)):
        own = peer.folder / f"native_{number}.yaml"  # torchgen remembers it, too
        root = re.sub(r"_$", "", re.match(r"- name:\s*(\w+)", entry)[1])  # type: ignore[index]
        own.write_text("".join(schemas.get(root, ())), encoding="utf-8")
        changed = mutate(entry, drawn)
        path, theirs = peer.derive(own, changed)
        ours, errors = derive(inputs_of(own, peer.tags, path))
        if set(errors) & (STRICTER | {"E1229", "E1230"}):
            continue
        if any(code.startswith("E0") for code in errors):
            continue  # These operators refer to others, which the file does not have.
        assert bool(errors) == isinstance(theirs, Exception), f"{changed}\n{errors}\n{theirs!r}"
        if not isinstance(theirs, Exception):
            found = differences(ours, with_values_alone(theirs))
            assert not found, f"{changed}\n{report(found)}"
        agreed += 1
    assert agreed > 60


def _functions_by_root(native: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for block in re.split(r"(?m)^(?=- func: )", native.read_text(encoding="utf-8"))[1:]:
        name = re.match(r"- func: (\w+)", block)[1]  # type: ignore[index]
        found.setdefault(re.sub(r"_$", "", name), []).append(block)
    return found


def mutate(entry: str, drawn: random.Random) -> str:
    """Return an entry with one word of a formula or of a key changed."""
    words = (
        "grad",
        "grads[0]",
        "grads[1]",
        "result",
        "result0",
        "self",
        "self_t",
        "self_p",
        "other",
    )
    places = list(
        re.finditer(r"\b(?:grad|grads\[\d\]|self|result\d?|other|input|self_[pt])\b", entry)
    )
    places = [place for place in places if place.start() > entry.index("\n")]
    if not places:
        return entry
    place = drawn.choice(places)
    new = drawn.choice((*words, f"{place[0]}.sizes()", f"{place[0]}.sym_sizes()", "auto_linear"))
    return entry[: place.start()] + new + entry[place.end() :]
