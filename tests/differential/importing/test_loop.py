"""From sources to YAML, from YAML to C++, from C++ to a library: the result agrees with the original in PyTorch.

Protects adoption: no kernel is edited, and opgen accepts all that `opgen import --kernels-as-they-are` writes.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from importing_support import CPP, HERE, PYTHON, SOURCES, write_all_sources

from opgen.cli.main import main
from support.build import launcher, one_torch_unit, require_headers, run
from support.pytorch import torch_folder
from support.torch_extension import STRICT, build_extension, require_torch, run_script

SPELLINGS = HERE / "spellings"
STABLE = HERE / "stable"
AUTOGRAD = HERE / "autograd"
ADOPT = ("--kernels-as-they-are", "--edit")
PYTHON_HEADERS = f"-I{sysconfig.get_path('include')}"
# For a module's init function, which is never called: the library is not linked with Python.
NO_MODULE = """\
#include <Python.h>
#undef PyModule_Create
#define PyModule_Create(module) nullptr
"""


def opgen(*arguments: str | Path) -> None:
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--kernels-as-they-are",)], ids=["plain", "as_they_are"])
def test_imported_entries_can_be_generated(
    flags: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file alone, all files at once, and each after `opgen format`."""
    monkeypatch.chdir(SOURCES)
    sources = CPP if flags else (*CPP, *PYTHON)
    opgen("import", *sources, "-D", "TORCH_EXTENSION_NAME=_kiln", "-o", f"{tmp_path}/yaml/", *flags)
    files = sorted((tmp_path / "yaml").glob("*.yaml"))
    assert len(files) >= 14
    opgen("format", "--check", *files)
    opgen("generate", *files, "--target", "torch", "--name", "every", "-o", tmp_path / "every")
    for file in files:
        opgen("lint", "--target", "torch", file)
        opgen("generate", file, "--target", "torch", "-o", tmp_path / file.stem)


@pytest.mark.nightly
def test_every_source_as_generated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library generated from the sources has the schemas and keys of the YAML."""
    require_headers()
    torch_folder()
    copies = shutil.copytree(SOURCES, tmp_path / "sources")
    monkeypatch.chdir(copies)
    made = tmp_path / "sources.yaml"
    define = ("-D", "TORCH_EXTENSION_NAME=_kiln")
    # The functions of quartz have the types of another target.
    sources = [source for source in CPP if source != "quartz.cpp"]
    opgen("import", *sources, *define, *ADOPT, "-o", made)
    (tmp_path / "kernels").mkdir()
    kernels = write_all_sources(tmp_path / "kernels", NO_MODULE, copies)
    has = "-DOPGEN_HAS_CUDA=1 -DOPGEN_HAS_HIP=1 -DOPGEN_HAS_XPU=1 -DOPGEN_HAS_MPS=1"
    flags = f"-O0 -w -DODDS_WIDE -DTORCH_EXTENSION_NAME=_kiln -I{copies} {PYTHON_HEADERS} {has}"
    folders = [f"-I{copies / name}" for name in ("granite", "kiln", "odds")]
    tree = tmp_path / "tree"
    library = build_extension(made, kernels, tree, "--name", "every", *folders, flags=flags)
    entries = [item for item in yaml.safe_load(made.read_text()) if "func" in item]
    schemas = {item["func"].partition("(")[0]: item["func"] for item in entries}
    keys = {item["func"].partition("(")[0]: set(item.get("dispatch", ())) for item in entries}
    # One namespace has modules, one for each part of its operators.
    modules = {
        name: item["fake_module"] for name, item in zip(schemas, entries) if "fake_module" in item
    }
    assert set(modules.values()) == {"odds.fakes", "odds.more_fakes"}
    for name, said in ask(library, schemas).items():
        assert said is not None and said["is_same"], (schemas[name], said)
        assert keys[name] <= set(said["keys"]), (name, said["keys"])
        assert said["fake_module"] == modules.get(name), name
    assert len(entries) == 190 and sum(map(len, keys.values())) == 234


def ask(library: Path, schemas: dict[str, str]) -> dict[str, Any]:
    asked = {"libraries": [str(library)], "modules": [], "schemas": schemas}
    command = [sys.executable, str(HERE / "ask_torch.py"), json.dumps(asked)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return {name: answer["operators"][name] for name in schemas}


@pytest.mark.nightly
def test_every_spelling_is_called_as_it_is(tmp_path: Path) -> None:
    """Each operator has the same results as before, and leaves the same in its arguments."""
    require_headers()
    made = adopt([SPELLINGS / "spellings.cpp", SPELLINGS / "spellings.h"], tmp_path)
    # PyTorch's headers cause warnings if they are not system headers.
    library = build(made, f"{STRICT} {PYTHON_HEADERS} -Wno-unused-parameter")
    before = run_script(SPELLINGS / "spellings.py", by_hand(SPELLINGS / "spellings.cpp", tmp_path))
    after = run_script(SPELLINGS / "spellings.py", library)
    assert after == before
    operators = {line.partition(" ")[0] for line in before.splitlines()}
    rows = made.read_text().count(": ::spelt::")
    assert len(operators) == rows == 70


@pytest.mark.slow
def test_functions_of_the_stable_abi_are_called_as_they_are(tmp_path: Path) -> None:
    """All that a program can see of a library on PyTorch's stable ABI is the same, with rows for the same functions."""
    require_headers()
    require_torch()
    source = STABLE / "amber.cpp"
    made = adopt([source], tmp_path)
    # This PyTorch has no CUDA, and no source defines that kernel: its row is left out.
    made.write_text(
        made.read_text().replace("scale\n", "scale\n    CUDA: ::amber::scale_cuda\n", 1)
    )
    header = tmp_path / "made_kernels.h"
    declared = "torch::stable::Tensor scale_cuda(const torch::stable::Tensor&, int64_t);"
    header.write_text(f"{header.read_text()}\nnamespace amber {{ {declared} }}\n")
    library = build(made, f"{STRICT} -Wno-unused-parameter", "torch-stable")
    before = run_script(STABLE / "amber.py", by_hand(source, tmp_path))
    assert run_script(STABLE / "amber.py", library) == before
    assert before.count("\n") > 80


@pytest.mark.slow
def test_autograd_is_that_of_a_registration_by_hand(tmp_path: Path) -> None:
    """Gradients, versions, errors, warnings and vmap are the same, of composites, functional and writing operators."""
    require_headers()
    require_torch()
    source = AUTOGRAD / "ferry.cpp"
    library = build(adopt([source], tmp_path), "-O0 -w")
    before = run_script(AUTOGRAD / "ferry.py", by_hand(source, tmp_path))
    assert run_script(AUTOGRAD / "ferry.py", library) == before
    assert before.count("\n") > 100


@pytest.mark.slow
def test_the_lines_by_hand_do_not_grow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The YAML has no more lines than the registrations that it replaces, without comments."""
    copies = shutil.copytree(SOURCES, tmp_path / "sources")
    monkeypatch.chdir(copies)
    made = tmp_path / "made.yaml"
    opgen("import", *CPP, "-D", "TORCH_EXTENSION_NAME=_kiln", *ADOPT, "-o", made)
    before, after = (
        sum(lines_of(path, "//") for path in folder.rglob("*.c*")) for folder in (SOURCES, copies)
    )
    assert 0 < lines_of(made, "#") <= before - after


def lines_of(path: Path, comment: str) -> int:
    lines = (line.strip() for line in path.read_text().splitlines())
    return sum(bool(line) and not line.startswith(comment) for line in lines)


def adopt(sources: Sequence[Path], folder: Path) -> Path:
    """Import copies of the sources, which are edited in `folder`/kernels; return the YAML."""
    (folder / "kernels").mkdir()
    for source in sources:
        shutil.copy(source, folder / "kernels")
    opgen("import", folder / "kernels", *ADOPT, "-o", folder / "made.yaml")
    edited = [(folder / "kernels" / source.name).read_text() for source in sources]
    assert not any("_LIBRARY" in text for text in edited), "no row is left by hand"
    return folder / "made.yaml"


def build(made: Path, flags: str, target: str = "torch") -> Path:
    folder = made.parent
    given = (made, folder / "kernels", folder / "tree", "-I", folder)
    return build_extension(*given, flags=flags, target=target)


def by_hand(source: Path, folder: Path) -> Path:
    """Build the library as its own TORCH_LIBRARY blocks register it."""
    torch = torch_folder()
    includes = [f"-I{torch / 'include'}", f"-I{torch / 'include/torch/csrc/api/include'}"]
    command: list[str | Path] = [*launcher(), "g++", "-std=c++20", "-O0", "-w", "-fPIC", *includes]
    command += [source, "-shared", "-o", folder / "libby_hand.so"]
    command += [f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    with one_torch_unit():
        run(command)
    return folder / "libby_hand.so"
