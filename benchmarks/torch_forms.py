"""Measure calls of generated and hand-written operators of all forms for PyTorch.

    python benchmarks/torch_forms.py [--write]

Builds benchmarks/torch/forms.yaml with forms_kernels.cpp, and forms_by_hand.cpp: unstructured operators (functional,
in-place, out=), composites, operators that write arguments, lists, optional and symbolic arguments, a view, a factory.
torch_compare.py measures structured operators. Calls are made from C++ through the dispatcher, alternately in one process, on tensors with 16
elements, in inference mode and in the usual mode, where gradients are recorded but not required. Nanoseconds as
median (min-max) of 41 rounds; instructions counted by valgrind as (I(2N) - I(N)) / N. `--write` puts the tables into
benchmarks/RESULTS.md. Needs g++, CMake, Ninja, valgrind and torch.
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


def tables(folder: Path) -> str:
    torch = torch_folder()
    built = configured(FOLDER / "forms.yaml", [FOLDER / "forms_kernels.cpp"], folder)
    build_seconds(built)
    by_hand = FOLDER / "forms_by_hand.cpp"
    for command in by_hand_commands(by_hand, folder, torch):
        run(command)
    libraries = [library_in(built), by_hand_library(by_hand, folder)]
    calls = program(FOLDER / "forms_calls.cpp", folder, torch)
    return "\n".join(call_tables(calls, libraries, "forms", "by_hand"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    with tempfile.TemporaryDirectory() as name:
        text = tables(Path(name))
    print(text)
    if given.write:
        write_between("torch_forms.py", text)


if __name__ == "__main__":
    main()
