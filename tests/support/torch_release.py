"""Libraries built for the PyTorch of another environment, in which opgen need not be installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from support.build import RUNTIME, launcher, one_torch_unit, run, tool


def torch_of(python: str) -> Path:
    """Return the folder of the package torch of that interpreter."""
    lines = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    return Path(run([python, "-c", lines]).strip())


def include_flags(trees: Iterable[Path], torch: Path) -> list[str]:
    """Return the compiler's flags to find the headers of the tree, of opgen and of torch."""
    system = (torch / "include", torch / "include" / "torch" / "csrc" / "api" / "include")
    own = (*(tree / "include" for tree in trees), RUNTIME / "torch" / "include")
    return [*(f"-I{folder}" for folder in own), *(f"-isystem{folder}" for folder in system)]


def write_unit(unit: Path, sources: Iterable[Path]) -> Path:
    """Write one source that includes all sources; return its path."""
    unit.write_text("".join(f'#include "{source}"\n' for source in sources))
    return unit


def generate(yaml: Path, tree: Path, *options: str | Path) -> None:
    command = [sys.executable, "-m", "opgen", "generate", yaml, "--target", "torch", "-o", tree]
    run([*command, *options])


def build_for(
    python: str,
    yaml: Path,
    kernels: Path,
    tree: Path,
    *,
    edit: Callable[[Path], None] = lambda tree: None,
    flags: Sequence[str] = ("-O0",),
) -> Path:
    """Build `yaml` for the torch of `python` by calling a compiler directly; `edit` may change the tree before.
    Return the library.
    """
    generate(yaml, tree)
    edit(tree)
    torch = torch_of(python)
    library = tree / f"lib{yaml.stem}.so"
    unit = write_unit(tree / "unit.cpp", [*sorted(tree.glob("src/*.cpp")), kernels])
    libraries = [f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    command = [*launcher(), tool("g++"), "-std=c++20", "-shared", "-fPIC", "-w", *flags]
    with one_torch_unit():
        run([*command, *include_flags([tree], torch), str(unit), "-o", str(library), *libraries])
    return library


def answer_of(python: str, script: Path, *arguments: str | Path) -> str:
    """Run a script in the environment of `python` and return the last line that it prints; its standard error
    goes to that of this process.
    """
    command = [python, str(script), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()[-1]
