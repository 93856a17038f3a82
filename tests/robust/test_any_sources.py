"""Any source is valid input for `opgen import`: it answers within seconds, and what it writes is valid YAML.

Valid sources are changed randomly: tokens are removed, repeated and exchanged, and the end is cut off.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human, render_json
from opgen.importing.common.registrations import find_schema
from opgen.pipeline.importing import Imports, import_operators
from robust.test_any_bytes import run_within_limits

SOURCES = Path(__file__).resolve().parents[1] / "differential" / "importing" / "sources"
FILES = sorted(
    path for path in SOURCES.rglob("*") if path.suffix in (".cpp", ".cc", ".cu", ".h", ".py")
)
# Seconds of CPU for a source of some kilobytes: hundreds of times the usual time.
SECONDS = 5.0
TOKEN = re.compile(r"\w+|\s+|\"|'|[^\w\s]")
INSERTED = (
    *("(", ")", "{", "}", "<", ">", '"', "'", ";", ",", "#if X\n", "\n#else\n", "\n#endif\n"),
    *("/*", "*/", "//", 'R"(', "::", "m.def(", "template", "[", "]", "\\", "\0", "\ufeff", "é"),
    *("<<<", ">>>", "&", "->", "\n#define A(x) x\n", "def f(", "@", "lambda", "  "),
)


def changed(text: str, chance: random.Random) -> str:
    """Return the text with some tokens removed, repeated, exchanged or added, and perhaps without its end."""
    tokens = TOKEN.findall(text)
    for _ in range(chance.randint(1, 12)):
        place = chance.randrange(len(tokens))
        match chance.randrange(5):
            case 0:
                del tokens[place : place + chance.randint(1, 5)]
            case 1:
                tokens.insert(place, chance.choice(INSERTED))
            case 2:
                tokens[place:place] = tokens[place : place + chance.randint(1, 30)]
            case 3:
                other = chance.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            case _:
                tokens[place] = chance.choice(INSERTED)
        if not tokens:
            tokens = [" "]
    if chance.random() < 0.2:
        del tokens[chance.randrange(len(tokens)) :]
    return "".join(tokens)


def check_answer(path: Path, as_they_are: bool) -> int:
    """Import one file; return the number of entries."""
    diagnostics = Diagnostics()
    output = os.fspath(path.parent / "out.yaml")
    defines = {"TORCH_EXTENSION_NAME": "_C"}
    started = time.process_time()
    imports = Imports((str(path),), (), (), defines, as_they_are, output)
    made = import_operators(imports, diagnostics)
    text = render_human(diagnostics) + render_json(diagnostics)
    assert time.process_time() - started < SECONDS
    assert (made is None) == diagnostics.has_errors
    if made is None:
        assert text
        return 0
    items = yaml.safe_load(made.texts[output]) or []  # Only comments.
    entries = [item for item in items if "func" in item]
    assert len(entries) == made.schemas
    for entry in entries:
        assert find_schema(entry["func"]) is not None
        assert all(isinstance(row, str) for row in entry.get("dispatch", {}).values())
    return len(entries)


def run_changes(folder: Path, seeds: range, record: Callable[[str, object], None]) -> None:
    found = 0
    for seed in seeds:
        chance = random.Random(seed)
        path = chance.choice(FILES)
        text = changed(path.read_text(), chance)
        source = folder / f"ops{path.suffix}"
        source.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            found += check_answer(source, as_they_are=seed % 2 == 0)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {path.name}: {error!r}") from error
    record("sources", len(seeds))
    record("entries", found)
    assert found > len(seeds), "the changes leave hardly anything to find"


def test_changed_sources(tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    run_changes(tmp_path, range(150), record_property)


@pytest.mark.slow
def test_more_changed_sources(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    run_changes(tmp_path, range(1000, 2500), record_property)


SHAPES = {
    "open calls": ("ops.cpp", "TORCH_LIBRARY(a, m) {\n" + "m.def(" * 200_000),
    "calls without end": ("ops.cpp", "TORCH_LIBRARY(a, m) {\n" + "m.def(x);" * 150_000),
    "a long chain": ("ops.cpp", "TORCH_LIBRARY(a, m) {\nm" + '.def("f() -> ()")' * 50_000 + ";}"),
    "braces": ("ops.cpp", "{}" * 300_000),
    "deep braces": ("ops.cpp", "{" * 300_000),
    "deep #if": ("ops.cpp", "#if a\n" * 200_000),
    "many #elif": ("ops.cpp", "#if a\n" + "#elif b\n" * 60_000),
    "branches in a call": (
        "ops.cpp",
        'TORCH_LIBRARY(a, m) {\nm.def("f("\n' + '#if a\n"x"\n#else\n"y"\n#endif\n' * 5000 + ");}",
    ),
    "macros of macros": (
        "ops.cpp",
        "".join(f"#define A{i} CAT(A{i + 1}, A{i + 1})\n" for i in range(20_000))
        + "TORCH_LIBRARY(A0, m) {}",
    ),
    "macros that double": (
        "ops.cpp",
        "".join(f"#define A{i}(x) A{i + 1}(x x)\n" for i in range(60))
        + "TORCH_LIBRARY(A0(b), m) {}",
    ),
    "a macro of itself": ("ops.cpp", "#define A A\n#define B(x) B(x)\nTORCH_LIBRARY(B(A), m) {}"),
    "libraries": ("ops.cpp", "TORCH_LIBRARY(a, m) {}\n" * 60_000),
    "unknown namespaces": ("ops.cpp", "TORCH_LIBRARY(TORCH_EXTENSION_NAME, m) {}\n" * 30_000),
    "raw texts": ("ops.cpp", 'R"(' * 500_000),
    "quotes": ("ops.cpp", '"\n' * 700_000),
    "angles": ("ops.cpp", 'TORCH_LIBRARY(a, m) { m.impl("f", ' + "a<" * 60_000 + "); }"),
    "a name without an end": ("ops.cpp", 'TORCH_LIBRARY_IMPL(a, CPU, m) { m.impl("f", &b::); }'),
    "stars": ("ops.cpp", 'TORCH_LIBRARY(a, m) { m.impl("f", ' + "&&a*b " * 30_000 + "); }"),
    "deep lambdas": ("ops.cpp", 'TORCH_LIBRARY(a, m) { m.impl("f", ' + "[](){" * 30_000 + "); }"),
    "functions": (
        "ops.cpp",
        "int f(int x);\n" * 60_000 + 'TORCH_LIBRARY(a, m) { m.def("f", &f); }',
    ),
    "using": (
        "ops.cpp",
        "using A = int;\nusing namespace b;\n" * 30_000
        + 'A f(A x);TORCH_LIBRARY(a, m) { m.def("f", &f); }',
    ),
    "bytes": ("ops.cpp", "".join(map(chr, random.Random(1).choices(range(1, 256), k=500_000)))),
    "deep Python": ("ops.py", "import torch.library\n" + "(" * 150_000),
    "a long sum": ("ops.py", "import torch.library\nx = " + "+".join(["'a'"] * 150_000)),
    "attributes": ("ops.py", "import torch.library\nx" + ".a" * 200_000 + "()"),
    "custom_op": (
        "ops.py",
        "from torch.library import custom_op\n" + "custom_op('a::b')\n" * 40_000,
    ),
    "NUL in Python": ("ops.py", "import torch.library\n\0"),
    "names of names": (
        "ops.py",
        "import torch.library\n"
        + "".join(f"a{i} = a{i + 1} + a{i + 1}\n" for i in range(5000))
        + "torch.library.define(a0, a0)",
    ),
}
QUICK = {"open calls", "macros that double", "deep #if", "stars", "deep Python", "attributes"}


@pytest.mark.parametrize(
    "shape",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in SHAPES],
)
def test_shapes_that_take_long(shape: str, tmp_path: Path) -> None:
    """A second, valid file is read with it, so that there is always something to write."""
    name, text = SHAPES[shape]
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "good.cpp").write_text('TORCH_LIBRARY(good, m) { m.def("f() -> ()"); }')
    done = run_within_limits("import", name, "good.cpp", folder=tmp_path)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
