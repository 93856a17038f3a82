"""Measure target torch-stable: calls, compile time, graphs, and C++ symbols of PyTorch.

    python benchmarks/torch_stable.py [calls] [recorded] [compile] [graphs] [--runs N] [--write]

Builds the five operators of benchmarks/torch/stable.yaml with stable_kernels.cpp as a package for torch-stable.

calls: Calls through the dispatcher of two operators, generated and by hand with PyTorch's C++ functions
(stable_by_hand.cpp). They are made from C++ in one process that has imported the package, on tensors with 16 elements: in
the usual mode, where gradients are recorded but not required; in inference mode; and in the usual mode with arguments
that are all `non_differentiable` (stable_derivatives.yaml). Instructions are counted by valgrind as (I(2N) - I(N)) / N.
recorded: Instructions of calls whose gradient is recorded, of the operator of benchmarks/torch/stable_recorded.yaml.
compile: Processor seconds of the operators and kernels for torch-stable and for torch, with the flags of CMake's Release.
graphs: Graphs that torch.compile makes (stable_graphs.py), and C++ symbols of PyTorch that the library uses.

Without names, all of them. `--write` puts the tables into benchmarks/RESULTS.md. Needs g++, CMake, Ninja, valgrind and
torch.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from processes import run
from results import write_between
from torch_builds import (
    FLAGS,
    FOLDER,
    build_seconds,
    by_hand_commands,
    by_hand_library,
    configured,
    instruction_tables,
    instructions,
    library_in,
    spread,
    torch_folder,
    torch_headers,
    torch_libraries,
)

YAML, KERNELS = FOLDER / "stable.yaml", [FOLDER / "stable_kernels.cpp"]
TARGETS = ("torch", "torch-stable")
CXX_OF_TORCH = re.compile(r" U (_Z\w*N[rVKRO]*(?:2at|3c10|5torch|6caffe2)\d\w*)")


def package(
    folder: Path,
    derivatives: Path | None = None,
    yaml: Path = YAML,
    kernels: Sequence[Path] = KERNELS,
) -> Path:
    """Build a package for torch-stable, and return its library."""
    built = configured(yaml, kernels, folder, derivatives=derivatives, target="torch-stable")
    run(["ninja", "-j1", "-C", built])
    return library_in(built)


def calls_library(folder: Path, torch: Path) -> Path:
    """Compile the library that makes the calls, and return its path."""
    made = folder / "libstable_calls.so"
    link = ["-Wl,--no-as-needed", *torch_libraries(torch), "-ldl"]
    source = FOLDER / "stable_calls.cpp"
    run(["g++", *FLAGS, "-shared", *torch_headers(torch), source, "-o", made, *link])
    return made


def calls(folder: Path, _: int) -> str:
    torch, by_hand = torch_folder(), FOLDER / "stable_by_hand.cpp"
    for command in by_hand_commands(by_hand, folder, torch):
        run(command)
    hand = by_hand_library(by_hand, folder)
    usual = package(folder / "usual")
    constant = package(folder / "constant", FOLDER / "stable_derivatives.yaml")
    return count_calls(calls_library(folder, torch), usual, constant, hand)


def count_calls(made: Path, usual: Path, constant: Path, hand: Path) -> str:
    command = [sys.executable, FOLDER / "stable_calls.py", made]
    sides = ("stable", "hand")
    return "\n".join(
        [
            *instruction_tables(command, [usual, hand], *sides, modes=("usual", "inference")),
            "",
            *instruction_tables(command, [constant, hand], *sides, modes=("constant",)),
        ]
    )


def recorded(folder: Path, _: int) -> str:
    names = FOLDER / "stable_recorded.yaml", [FOLDER / "stable_recorded_kernels.cpp"]
    library = package(folder, FOLDER / "stable_recorded_derivatives.yaml", *names)
    command = [sys.executable, FOLDER / "stable_calls.py", calls_library(folder, torch_folder())]
    counted = instructions(command, [library, library], "recorded")
    rows = [f"| `{name}` | {count:,.0f} |" for name, count in counted.items()]
    return "\n".join(["| call | instructions |", "|---|---:|", *rows])


def compile_both(folder: Path, runs: int) -> str:
    built = {
        target: configured(YAML, KERNELS, folder / target, target=target) for target in TARGETS
    }
    taken: dict[str, list[dict[str, float]]] = {target: [] for target in TARGETS}
    for _ in range(runs):
        for target, where in built.items():
            taken[target].append(build_seconds(where))
    lines = [
        "| five operators with kernels | processor seconds, min / median / max | share | generated unit | kernels |",
        "|---|---:|---:|---:|---:|",
    ]
    medians = {
        target: {step: statistics.median(one[step] for one in measured) for step in measured[0]}
        for target, measured in taken.items()
    }
    for target, measured in taken.items():
        mine = medians[target]
        share = mine["all"] / medians["torch"]["all"]
        cells = [
            f"target {target}",
            spread([one["all"] for one in measured]),
            f"{share:.2f}",
            f"{mine['generated']:.1f}",
            f"{mine['kernels']:.1f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def graphs(folder: Path, _: int) -> str:
    return count_graphs(package(folder))


def count_graphs(library: Path) -> str:
    counted = json.loads(run([sys.executable, FOLDER / "stable_graphs.py", library]))
    symbols = len(set(CXX_OF_TORCH.findall(run(["nm", "-D", "--undefined-only", library]))))
    return "\n".join(
        [
            "| | number |",
            "|---|---:|",
            *(f"| graphs: {what} | {count} |" for what, count in counted.items()),
            f"| C++ symbols of PyTorch in the library | {symbols} |",
        ]
    )


PARTS = {"calls": calls, "recorded": recorded, "compile": compile_both, "graphs": graphs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", metavar="PART", help=" ".join(PARTS))
    parser.add_argument("--runs", type=int, default=3, help="of each compiler")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    for part in given.parts or PARTS:
        with tempfile.TemporaryDirectory() as name:
            text = PARTS[part](Path(name), given.runs)
        print(text)
        if given.write:
            write_between(f"torch_stable.py {part}", text)


if __name__ == "__main__":
    main()
