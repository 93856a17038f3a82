"""The README: its code compiles and does what it says. Also: what the page for new users says about its kernel."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.build import (
    REPOSITORY,
    RUNTIME,
    Compiler,
    compilers,
    environment,
    require_headers,
    run,
    tool,
)
from support.python_package import run_python
from support.pytorch import torch_folder
from support.torch_extension import build_extension, require_torch, run_script
from support.trees import generate

RESULTS = "-1 4 -1.5 -0.5 6 20\n"
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
START = (REPOSITORY / "docs/start/runtime.md").read_text(encoding="utf-8")


ON_TORCH = """
import sys
import torch

torch.ops.load_library(sys.argv[1])
ramp = torch.ops.leaky.ramp
x = torch.full((2, 3), -2.0)
strided = torch.full((2, 1), 4.0).expand(2, 3)
integers = torch.full((2,), -3)
out = torch.empty(0)
ramp.out(x, 0.25, out=out)
shape = ramp(torch.empty(4, 5, device="meta"), 0.5)
for number in (ramp(x, 0.5)[1, 2], ramp(strided, 0.5)[0, 0], ramp(integers, 0.5)[0], out[1, 2]):
    print(f"{float(number):g}", end=" ")
print(out.numel(), shape.numel())
"""


def block(language: str, text: str, number: int = 0) -> str:
    """Return the fenced block of `text` in `language` with this number."""
    return re.findall(rf"^```{language}\b.*\n((?:.*\n)*?)^```$", text, re.MULTILINE)[number]


def test_the_operator_is_the_example() -> None:
    """Protects readers who look for the README's operator: examples/myadd has the same entry and kernels."""
    folder = REPOSITORY / "examples/myadd"
    entry = (folder / "native_functions.yaml").read_text()
    assert entry.endswith(block("yaml", README))
    # Without comments.
    shown, kernels = (
        re.sub(r" *//.*", "", text).strip().split()
        for text in (block("cpp", README), (folder / "kernels/myadd.cpp").read_text())
    )
    assert shown == kernels


@pytest.mark.slow
def test_the_operator(tmp_path: Path) -> None:
    """Protects the README's first blocks: built as they stand, they give the session that it shows."""
    require_headers()
    yaml, kernels = tmp_path / "native_functions.yaml", tmp_path / "myadd.cpp"
    yaml.write_text(block("yaml", README))
    kernels.write_text(block("cpp", README))
    command = [
        tool("opgen"),
        "build",
        yaml,
        "--kernels",
        kernels,
        "--python",
        "-o",
        tmp_path / "build",
    ]
    run([*command, "-j", "1"], env=environment())
    session = tmp_path / "session.txt"
    session.write_text(block("pycon", README))
    run_python(
        f"import doctest; assert doctest.testfile({str(session)!r}, module_relative=False).failed == 0",
        tmp_path / "build/cmake-build/python",
    )


def test_the_commands_for_existing_code(tmp_path: Path) -> None:
    """Protects who has an extension: the commands run in the package that examples/adopt begins with."""
    package = shutil.copytree(REPOSITORY / "examples/adopt/before", tmp_path / "package")
    path = {"PATH": f"{Path(tool('opgen')).parent}:/usr/bin:/bin"}
    said = run(["sh", "-ec", block("sh", README)], cwd=package, env={**environment(), **path})
    assert "3 entries, 3 operators: no errors" in said and (package / "generated/src").is_dir()


@pytest.mark.slow
def test_the_picture_is_that_of_a_run() -> None:
    """Protects docs/session.svg: the commands print what it shows."""
    require_headers()
    run([sys.executable, REPOSITORY / ".ci/site/session.py", "--check"], env=environment())


def write_leaky(folder: Path, old: str = "", new: str = "") -> tuple[Path, Path]:
    """Write the schema and the kernels of the page for new users, with `new` for `old`; return both files."""
    yaml, kernels = folder / "leaky.yaml", folder / "ramp.cpp"
    yaml.write_text(block("yaml", START))
    text = block("cpp", START)
    assert old in text
    kernels.write_text(text.replace(old, new) if old else text)
    return yaml, kernels


@pytest.mark.slow
def test_the_ten_minutes_on_torch(tmp_path: Path) -> None:
    """Protects "the same kernels": the page's source, unchanged, gives the results on target torch."""
    require_torch()
    library = build_extension(*write_leaky(tmp_path), tmp_path / "tree")
    script = tmp_path / "check.py"
    script.write_text(ON_TORCH)
    assert run_script(script, library) == RESULTS


@pytest.mark.slow
@pytest.mark.parametrize("target", ["runtime", "torch"])
@pytest.mark.parametrize("compiler", compilers(), ids=lambda compiler: compiler.name)
def test_a_wrong_parameter_is_an_error_at_the_kernel(
    compiler: Compiler, target: str, tmp_path: Path
) -> None:
    """Protects the promise of step 3 for both compilers and targets, also for the meta function."""
    folders = [RUNTIME / "include"]
    if target == "torch":
        require_torch()
        torch = torch_folder() / "include"
        folders = [RUNTIME / "torch/include", torch, torch / "torch/csrc/api/include"]
    for old in ("double slope", "double) {"):
        new = old.replace("double", "float")
        yaml, kernels = write_leaky(tmp_path, old, new)
        tree = generate(yaml, tmp_path / "tree", target=target)
        included = [f"-I{folder}" for folder in (tree / "include", *folders)]
        command = [compiler.path, "-std=c++20", "-fsyntax-only", "-w", *included, str(kernels)]
        said = subprocess.run(command, capture_output=True, text=True, env=environment()).stderr
        text = kernels.read_text()
        line = text[: text.index(new)].count("\n") + 1
        first = next(each for each in said.splitlines() if "error: " in each)
        assert first.startswith(f"{kernels}:{line}:"), said
        # g++ also shows the declaration.
        assert compiler.name != "g++" or re.search("candidate is: .*double", said), said
