"""Measure calls of operators with formulas for PyTorch, generated and written by hand.

    python benchmarks/torch_gradients.py [--write]

Builds benchmarks/torch/gradients.yaml with gradients_derivatives.yaml and gradients_kernels.cpp, and
gradients_by_hand.cpp, whose nodes and kernels have the form of torchgen's. Calls are made from C++ through the
dispatcher, alternately in one process, on tensors with 16 elements: recorded (`scale`), without an argument that requires
a gradient (`scale.plain`), and recorded with the backward pass (`scale.backward`). Nanoseconds as median (min-max) of 41
rounds; instructions counted by valgrind as (I(2N) - I(N)) / N. `--write` puts the table into benchmarks/RESULTS.md. Needs
g++, CMake, Ninja, valgrind and torch.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from processes import run
from results import write_between
from torch_builds import (
    FOLDER,
    build_seconds,
    by_hand_commands,
    by_hand_library,
    call_tables,
    configured,
    library_in,
    program,
    torch_folder,
)


def table(folder: Path) -> str:
    torch = torch_folder()
    kernels, formulas = FOLDER / "gradients_kernels.cpp", FOLDER / "gradients_derivatives.yaml"
    built = configured(FOLDER / "gradients.yaml", [kernels], folder, derivatives=formulas)
    build_seconds(built)
    by_hand = FOLDER / "gradients_by_hand.cpp"
    for command in by_hand_commands(by_hand, folder, torch):
        run(command)
    libraries = [library_in(built), by_hand_library(by_hand, folder)]
    calls = program(FOLDER / "gradients_calls.cpp", folder, torch)
    return "\n".join(call_tables(calls, libraries, "graded", "by_hand", modes=("usual",)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    with tempfile.TemporaryDirectory() as name:
        text = table(Path(name))
    print(text)
    if given.write:
        write_between("torch_gradients.py", text)


if __name__ == "__main__":
    main()
