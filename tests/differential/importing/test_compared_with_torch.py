"""The entries read from sources agree, operator by operator, with PyTorch's view of the compiled library.

Protects the figures of tests/RESULTS.md: at least 98 % of schemas and rows are found, and none is wrong.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from importing_support import (
    CPP,
    DEFINES,
    GONE,
    HERE,
    HIDDEN,
    NOT_BUILT,
    PYTHON,
    SOURCES,
    Read,
    read,
    write_all_sources,
)

from opgen.diagnostics import Diagnostics
from opgen.importing.common.registrations import CppParameter, CppSignature, CppType, Names
from opgen.importing.entries.callables import TYPES, spell_signature
from opgen.importing.entries.merge import Entry
from opgen.model.native_function import AliasAnalysisKind
from opgen.pipeline.importing import Imports, collect_entries, import_operators
from support.build import launcher, one_torch_unit, require_headers, run
from support.pytorch import torch_folder

RecordProperty = Callable[[str, object], None]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All C++ sources as one shared library, compiled as one source: ATen's headers take most of the time."""
    require_headers()
    folder = tmp_path_factory.mktemp("library")
    write_all_sources(folder)
    compile_unit(folder / "all.cpp", folder / "libsources.so", ("-shared", "-DODDS_WIDE"))
    return folder / "libsources.so"


def compile_unit(source: Path, output: Path, more: Sequence[str]) -> None:
    torch = torch_folder()
    includes = (SOURCES, SOURCES / "granite", source.parent, torch / "include")
    includes += (torch / "include/torch/csrc/api/include", Path(sysconfig.get_path("include")))
    command: list[str | Path] = [*launcher(), "g++", "-std=c++20", "-O0", "-w", "-fPIC"]
    command += ["-DTORCH_EXTENSION_NAME=_kiln", *(f"-I{path}" for path in includes), source, *more]
    command += ["-o", output, f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    with one_torch_unit():
        run(command)


def ask(libraries: Sequence[Path], modules: Sequence[str], found: Read) -> dict[str, Any]:
    schemas = {name: f"{e.namespace}::{e.schema}" for name, e in found.entries.items()}
    asked = {"libraries": [str(path) for path in libraries], "modules": list(modules)}
    asked |= {"schemas": schemas}
    done = subprocess.run(
        [sys.executable, str(HERE / "ask_torch.py"), json.dumps(asked)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SOURCES / "python")},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def assert_equal(found: Read, answer: dict[str, Any], not_there: frozenset[str]) -> tuple[int, int]:
    """Compare schemas and rows, except operators that are not in the library; return how many were equal."""
    rows = 0
    for name, entry in found.entries.items():
        said = answer["operators"][name]
        assert (said is None) == (name in not_there), name
        if said is not None:
            assert said["is_same"], f"{entry.schema} is {said['printed']}"
            assert sorted(entry.rows) == said["keys"], name
            assert sorted(entry.tags) == said["tags"], name
            assert analysis_of(entry) == said["analysis"], name
            assert entry.fake_module == said["fake_module"], name
            rows += len(entry.rows)
    return len(found.entries) - len(not_there & found.entries.keys()), rows


def analysis_of(entry: Entry) -> str:
    kind = entry.alias_analysis or AliasAnalysisKind.from_schema
    return kind.name


@pytest.mark.slow
def test_entries_agree_with_the_library(library: Path, record_property: RecordProperty) -> None:
    cpp, python = read(*CPP), read(*PYTHON)
    from_cpp, from_python = ask([library], [], cpp), ask(
        [], ["tables", "functions", "engine"], python
    )
    schemas, rows = assert_equal(cpp, from_cpp, NOT_BUILT)
    more_schemas, more_rows = assert_equal(python, from_python, GONE)
    schemas, rows = schemas + more_schemas, rows + more_rows
    there = {*from_cpp["there"], *from_python["there"]}
    missed = there - cpp.entries.keys() - python.entries.keys()
    assert missed == HIDDEN
    record_property("schemas", schemas)
    record_property("rows", rows)
    record_property("missed", len(missed))
    assert schemas >= 200 and rows >= 200
    assert schemas / len(there) >= 0.98, (schemas, len(there))


@pytest.mark.slow
def test_importing_from_the_library_gives_the_same(library: Path) -> None:
    """`--from-library` finds the entries of the sources, with the same dispatch keys."""
    diagnostics = Diagnostics()
    namespaces = ("basalt", "granite", "prism", "quartz", "odds_more")
    asked = collect_entries(Imports((), (str(library),), namespaces), diagnostics)
    assert asked is not None and not diagnostics.has_errors
    from_library = {entry.name: entry for entry in asked.entries}
    from_sources = {n: e for n, e in read(*CPP).entries.items() if e.namespace in namespaces}
    assert from_library.keys() == from_sources.keys()
    for name, entry in from_library.items():
        assert sorted(entry.rows) == sorted(from_sources[name].rows)
        assert sorted(entry.tags) == sorted(from_sources[name].tags)
        assert analysis_of(entry) == analysis_of(from_sources[name]), name
        written = {_made_alike(entry.schema), _made_alike(from_sources[name].schema)}
        assert len(written) == 1, written


@pytest.mark.slow
def test_other_files_can_call_the_kernels_as_they_are(library: Path, tmp_path: Path) -> None:
    """A source that includes only what the YAML names takes the address of each function in a row.

    It is linked with the library, so a declaration that differs from its function is found, too.
    """
    diagnostics = Diagnostics()
    # PyTorch's headers hide functions of the types of the stable ABI, as quartz has.
    sources = tuple(str(SOURCES / source) for source in CPP if source != "quartz.cpp")
    imports = Imports(sources, (), (), DEFINES, True, f"{tmp_path}/all.yaml")
    made = import_operators(imports, diagnostics)
    assert made is not None and not diagnostics.has_errors
    for path, text in made.texts.items():
        Path(path).write_text(text)
    items = yaml.safe_load(made.texts[f"{tmp_path}/all.yaml"])
    included = items[0]["include"]
    assert "all_kernels.h" in included and "ops.h" in included
    rows = [row for item in items[1:] for row in item.get("dispatch", {}).values()]
    # The library has no functions of the snippets, which are for sources without registrations.
    functions = sorted({row for row in rows if row.startswith("::") and "opgen_kernels" not in row})
    assert len(functions) > 100 and "::odds::kernels::times<float>" in functions
    lines = [f'#include "{header}"\n' for header in included]
    lines += ["void take(void*);\nvoid all() {\n"]
    lines += [f"  take(reinterpret_cast<void*>(&{function}));\n" for function in functions]
    (tmp_path / "calls.cpp").write_text("".join([*lines, "}\nvoid take(void*) {}\n"]))
    folders = [f"-I{SOURCES / folder}" for folder in ("kiln", "odds")]
    more = (*folders, "-shared", "-Wl,--no-undefined", str(library))
    compile_unit(tmp_path / "calls.cpp", tmp_path / "libcalls.so", more)


@pytest.mark.slow
def test_every_name_that_a_header_may_declare_exists(tmp_path: Path) -> None:
    """One source with a declaration for each name, and the headers included for them."""
    of_templates = {
        *("at::ArrayRef", "at::OptionalArrayRef", "c10::List", "c10::complex", "c10::optional"),
        *("std::array", "std::optional", "std::tuple", "std::vector", "std::complex"),
        "torch::headeronly::HeaderOnlyArrayRef",
    }
    arguments = {"c10::Dict": ("int64_t", "double"), "std::array": ("bool", "3")}
    arguments |= {
        f"std::{name}": ("int64_t", "double") for name in ("map", "pair", "unordered_map")
    }
    headers: set[str] = set()
    lines = []
    for index, name in enumerate(TYPES):
        inner = arguments.get(name, ("double",) if name in of_templates else ())
        type_ = CppType(name, tuple(CppType(one) for one in inner), True, "&")
        signature = CppSignature(CppType("void"), (CppParameter(type_, "x"),))
        declared = spell_signature(signature, Names({}))
        lines.append(f"void f{index}({declared.signature.parameters[0].type} x);\n")
        headers.update(declared.headers)
    lines = [f"#include <{header}>\n" for header in sorted(headers)] + lines
    (tmp_path / "names.cpp").write_text("".join(lines))
    compile_unit(tmp_path / "names.cpp", tmp_path / "names.o", ("-c",))


def _made_alike(schema: str) -> str:
    """Normalise PyTorch's spelling of numbers and defaults, and remove parentheses around one result."""
    schema = re.sub(r"=[^,)]*(?=[,)])", "=", re.sub(r"=\[[^]]*\]", "=", schema))
    return re.sub(r"-> \(([^(),]*(?:\(\w+!?\))?[^(),]*)\)$", r"-> \1", schema)
