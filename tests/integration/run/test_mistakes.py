"""Common mistakes in kernels and in formulas: short errors, at the author's line, that name the declaration.

The outputs are recorded in mistakes/expected.txt, and docs/guides/compiler-errors.md is made from them. If a compiler has another major version than the recorded one, only
these properties are checked, not the text.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

import pytest

from support import mistakes
from support.build import (
    INCLUDE,
    RUNTIME,
    Compiler,
    compilers,
    environment,
    link_program,
    run_program,
)
from support.goldens import read, snapshot
from support.mistakes import (
    AUTHORS_FILE,
    DEFINED_IN_TWO_FILES,
    FORMULAS,
    FORMULAS_IN_TWO_FILES,
    MISTAKES,
    MISTAKES_IN_FORMULAS,
    NO_SET_OUTPUT,
    Mistake,
)
from support.torch_extension import require_torch
from support.trees import generate, sources

TORCH = RUNTIME / "torch" / "include"
UPDATES = bool(os.environ.get("OPGEN_UPDATE_GOLDEN"))

each_compiler = pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)
each_mistake = pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
each_formula = pytest.mark.parametrize(
    "mistake", MISTAKES_IN_FORMULAS, ids=lambda mistake: mistake.name
)


@pytest.fixture(scope="module")
def runtime_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(mistakes.FOLDER / "input.yaml", tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="module")
def torch_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_torch()
    yaml = mistakes.FOLDER / "input.yaml"
    return generate(yaml, tmp_path_factory.mktemp("torch"), target="torch")


@pytest.mark.slow
@each_compiler
@each_mistake
def test_on_the_runtime(
    mistake: Mistake, compiler: Compiler, runtime_tree: Path, tmp_path: Path
) -> None:
    check(mistake, "runtime", compiler, (INCLUDE, runtime_tree / "include"), (), tmp_path)


@pytest.mark.slow
@each_compiler
@each_mistake
def test_on_libtorch(
    mistake: Mistake, compiler: Compiler, torch_tree: Path, tmp_path: Path
) -> None:
    folders = (TORCH, torch_tree / "include")
    check(mistake, "torch", compiler, folders, libtorch(), tmp_path)


@pytest.mark.slow
@each_compiler
@each_formula
def test_a_formula_on_the_runtime(mistake: Mistake, compiler: Compiler, tmp_path: Path) -> None:
    (tmp_path / FORMULAS).write_text(mistake.source)
    tree = tree_with(tmp_path, [FORMULAS], "runtime")
    folders = (INCLUDE, tree / "include")
    said = complaint(compiler, folders, (), "tree/src/Derivatives.cpp", tmp_path)
    check_complaint(mistake, "runtime", compiler, said, FORMULAS)


@pytest.mark.slow
@each_compiler
@each_formula
def test_a_formula_on_libtorch(mistake: Mistake, compiler: Compiler, tmp_path: Path) -> None:
    require_torch()
    (tmp_path / FORMULAS).write_text(mistake.source)
    tree = tree_with(tmp_path, [FORMULAS], "torch")
    folders = (TORCH, tree / "include")
    said = complaint(compiler, folders, libtorch(), "tree/src/Derivatives.cpp", tmp_path)
    check_complaint(mistake, "torch", compiler, said, FORMULAS)


@pytest.mark.slow
@each_compiler
def test_a_formula_in_one_of_two_files_of_the_same_name(compiler: Compiler, tmp_path: Path) -> None:
    """The error is in the right file, at the line and column of the formula. The build is in another folder."""
    for name, text in FORMULAS_IN_TWO_FILES.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    tree = tree_with(tmp_path, list(FORMULAS_IN_TWO_FILES), "runtime")
    folders = (INCLUDE, tree / "include")
    said = complaint(compiler, folders, (), str(tree / "src" / "Derivatives.cpp"), tree)
    (line,) = [i for i, text in enumerate(text.splitlines(), 1) if "times" in text]
    column = text.splitlines()[line - 1].index("times") + 1
    assert f"structured/derivatives.yaml:{line}:{column}: error: " in said, said


@pytest.mark.slow
@each_compiler
def test_the_linker_names_a_kernel_that_two_files_define(
    compiler: Compiler, runtime_tree: Path, tmp_path: Path
) -> None:
    flags = ["-std=c++20", "-fPIC", f"-I{INCLUDE}", f"-I{runtime_tree / 'include'}"]
    for name in ("one", "two"):
        (tmp_path / f"{name}.cpp").write_text(DEFINED_IN_TWO_FILES)
        assert not run(compiler, [*flags, "-c", f"{name}.cpp"], tmp_path)
    said = run(compiler, ["-shared", "one.o", "two.o", "-o", "lib.so"], tmp_path)
    assert re.search(r"two\.cpp:.*multiple definition of .*opgen_shift_cpu::shift_cpu", said), said
    assert mistakes.lines(said) <= mistakes.MAX_LINES, said
    compare("runtime", compiler, "two_files", said)


@each_compiler
def test_a_kernels_function_with_auto(compiler: Compiler, tmp_path: Path) -> None:
    """Protects authors from template errors only: docs/guides/element-wise.md explains this message."""
    (tmp_path / "kernel.cpp").write_text(
        "#include <opgen/cpu/loops.h>\n"
        "void kernel(opgen::TensorIteratorBase& iter) {\n"
        "  opgen::cpu_kernel(iter, [](auto a) { return a; });\n"
        "}\n"
    )
    said = run(compiler, ["-std=c++20", "-fsyntax-only", f"-I{INCLUDE}", "kernel.cpp"], tmp_path)
    assert "kernel.cpp:3" in said, said
    assert "a kernel's function needs parameters with types" in said, said
    assert mistakes.lines(said) <= 2 * mistakes.MAX_LINES, said


@pytest.mark.slow
def test_a_call_reports_that_a_meta_function_sets_no_output(
    runtime_tree: Path, tmp_path: Path
) -> None:
    program = tmp_path / "main.cpp"
    program.write_text(NO_SET_OUTPUT)
    built = link_program(tmp_path, [program, *sources(runtime_tree)], [runtime_tree / "include"])
    code, printed, complained = run_program(built)
    assert code == 0 and not complained, complained
    first, second = printed.splitlines()[:2]
    assert "set_output_raw_strided(0, " in first and second.startswith("  in mylib::scale(")
    compare("runtime", None, "no_set_output", f"{first}\n{second}\n")


def test_the_page_is_made_from_the_recorded_outputs() -> None:
    text = mistakes.page()
    if UPDATES:
        mistakes.PAGE.write_text(text)
    assert mistakes.PAGE.read_text() == text, f"run {mistakes.UPDATE}"


def check(
    mistake: Mistake,
    target: str,
    compiler: Compiler,
    folders: tuple[Path, ...],
    system: tuple[Path, ...],
    tmp_path: Path,
) -> None:
    """Check that the source of `mistake` gives a short error at the author's line, equal to the recorded one."""
    (tmp_path / AUTHORS_FILE).write_text(mistake.source)
    said = complaint(compiler, folders, system, AUTHORS_FILE, tmp_path)
    check_complaint(mistake, target, compiler, said, AUTHORS_FILE)


def check_complaint(
    mistake: Mistake, target: str, compiler: Compiler, said: str, file: str
) -> None:
    """Check that the compiler's output is a short error in the file, equal to the recorded one."""
    said = without_lines_of_headers(said, file)
    first = re.search(r"^(\S+?):\d+:\d+: (.*)$", said, re.MULTILINE)
    assert first and first[1] == file and first[2].startswith("error: "), said
    assert re.search(mistake.names, said), said
    assert mistakes.lines(said) <= mistake.limit(target, compiler.name), said
    compare(target, compiler, mistake.name, said)


def complaint(
    compiler: Compiler,
    folders: tuple[Path, ...],
    system: tuple[Path, ...],
    source: str,
    folder: Path,
) -> str:
    """Return a compiler's output for a source, without the folders of headers."""
    command = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow"]
    command += [f"-I{folder}" for folder in folders]
    command += [part for folder in system for part in ("-isystem", str(folder))]
    said = run(compiler, [*command, source], folder)
    for header_folder in (*folders, *system):
        said = said.replace(f"{header_folder}/", "")
    return re.sub(r"opgen/(?:\w+/)?(?:\.\./)+include/", "", said)


def libtorch() -> tuple[Path, ...]:
    spec = importlib.util.find_spec("torch")
    assert spec is not None and spec.origin is not None
    system = Path(spec.origin).parent / "include"
    return system, system / "torch/csrc/api/include"


def tree_with(folder: Path, formulas: list[str], target: str) -> Path:
    """Generate the operators with files of formulas that are in `folder`."""
    yaml = mistakes.FOLDER / "input.yaml"
    given = tuple(folder / name for name in formulas)
    return generate(yaml, folder / "tree", target=target, derivatives=given)


def without_lines_of_headers(said: str, file: str) -> str:
    """Return `said` with line number 1 in place of all lines of headers, so that edits of headers do not change a
    recorded output."""
    said = re.sub(r"(?<=<scratch space>:)\d+(?=:)", "1", said)
    said = re.sub(r"\b((?:opgen|ATen|c10|mylib)/[\w/]+\.h):\d+", r"\1:1", said)
    lines, is_header = [], False
    for line in said.splitlines(keepends=True):
        if place := re.match(r"(\S+?):\d+:", line):
            is_header = place[1] != file
        # g++ writes the number of the line before its text.
        lines.append(re.sub(r"^ *\d+ \|", "    1 |", line) if is_header else line)
    return "".join(lines)


def run(compiler: Compiler, arguments: list[str], folder: Path) -> str:
    done = subprocess.run(
        [compiler.path, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    return done.stderr


def compare(target: str, compiler: Compiler | None, name: str, said: str) -> None:
    """Check that the output is the recorded one, if the compiler has the recorded major version."""
    of = f"{target}-{compiler.name if compiler else 'g++'}"
    outputs = read(mistakes.EXPECTED)
    if UPDATES:
        outputs[f"{of}/{name}"] = said
        if compiler is not None:
            outputs[f"{of}/version"] = version(compiler) + "\n"
        mistakes.EXPECTED.write_text(snapshot(outputs))
    if compiler is not None:
        written = outputs[f"{of}/version"].strip()
        if version(compiler).split(".")[0] != written.split(".")[0]:
            return
    assert said == outputs[f"{of}/{name}"], f"run {mistakes.UPDATE}"


def version(compiler: Compiler) -> str:
    """Return the compiler's version, such as `12.2.0`."""
    done = subprocess.run([compiler.path, "-dumpfullversion"], capture_output=True, text=True)
    found = done.stdout.strip() if done.returncode == 0 else ""
    if not found:
        done = subprocess.run([compiler.path, "-dumpversion"], capture_output=True, text=True)
        found = done.stdout.strip()
    return found
