"""Measure calls of an operator from other frameworks, beside the same operator bound there by hand.

    python benchmarks/frameworks.py [--build DIR] [--no-build]

Builds examples/everywhere and benchmarks/frameworks, and prints a Markdown table. valgrind counts the instructions of 40 calls
minus those of 20, divided by 20, from Python: the whole call, with the conversion of the caller's tensors and of the result.
"Same kernel" is a function that calls the library's C++ functions, "loop" one without opgen, for contiguous float arrays of one
shape. For JAX, it counts calls of the handlers that XLA calls (benchmarks/frameworks/jax_calls.cpp), without XLA. Needs g++,
valgrind and its headers, torch, apache-tvm-ffi and jax.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from processes import run

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples/everywhere"
CALLS = (20, 40)
SIZES = (1, 1_000_000)
# The function of the library, that of both bindings by hand, the number of arrays, and the numbers between or after them.
FORMS: tuple[tuple[str, str, Callable[[Any, Any, Any], tuple[Any, ...]]], ...] = (
    ("blend", "blend", lambda a, b, _: (a, b, 0.25)),
    ("blend_out", "blend_out", lambda a, b, c: (a, b, 0.25, c)),
    ("momentum_step_", "momentum_step", lambda a, b, c: (a, b, c, 0.001, 0.9)),
)
SIDES = ("opgen", "call", "loop")
FRAMEWORKS = ("torch", "numpy")
JAX = "jax"
PACKAGE = "cmake-build/python/everywhere"


def build(folder: Path) -> None:
    """Build the library, and the functions bound by hand beside it."""
    opgen = Path(sys.executable).with_name("opgen")
    run(
        [
            opgen,
            "build",
            EXAMPLE / "native_functions.yaml",
            "--kernels",
            EXAMPLE / "kernels",
            "-o",
            folder,
            "--python",
            "--frameworks",
            "tvm-ffi,jax",
        ]
    )
    asked = "from opgen.data import runtime_dir; print(runtime_dir())"
    headers = [folder / "include", run([sys.executable, "-c", asked]).strip() + "/include"]
    flags = run([sys.executable, "-m", "tvm_ffi.config", "--cxxflags", "--ldflags", "--libs"])
    libraries = [folder / "cmake-build", folder / "cmake-build/opgen-runtime"]
    common = ["-O2", "-DNDEBUG", *(f"-I{one}" for one in headers)]
    linked = [*(f"-L{one}" for one in libraries), "-leverywhere", "-l:libopgen_core.so.2"]
    linked += [*(f"-Wl,-rpath,{one}" for one in libraries), "-std=c++20"]
    run(
        [
            "g++",
            *common,
            "-fPIC",
            "-shared",
            HERE / "frameworks/tvm_ffi_by_hand.cpp",
            "-o",
            folder / "by_hand.so",
            *shlex.split(flags),
            *linked,
        ]
    )
    asked = "import jax.ffi; print(jax.ffi.include_dir())"
    jax = run([sys.executable, "-c", asked]).strip()
    run(
        [
            "g++",
            *common,
            "-isystem",
            jax,
            HERE / "frameworks/jax_calls.cpp",
            "-o",
            folder / "jax_calls",
            *linked,
            "-ldl",
        ]
    )


def calls(folder: Path, framework: str) -> None:
    """Make all calls; valgrind writes a file for each loop."""
    tvm_ffi = importlib.import_module("tvm_ffi")
    ours = tvm_ffi.load_module(folder / PACKAGE / "libeverywhere_tvm_ffi.so")
    by_hand = tvm_ffi.load_module(folder / "by_hand.so")
    module = importlib.import_module(framework)
    if framework == "torch":
        module.set_num_threads(1)
    for size in SIZES:
        arrays = [module.ones(size, dtype=module.float32) for _ in range(3)]
        for name, hand, arguments in FORMS:
            given = arguments(*arrays)
            for side in SIDES:
                call = ours[name] if side == "opgen" else by_hand[f"{side}_{hand}"]
                for count in (2, *CALLS):
                    by_hand.start()
                    for _ in range(count):
                        call(*given)
                    by_hand.stop(f"{size} {name} {side} {count}")


def counted(folder: Path, framework: str) -> dict[tuple[int, str, str], float]:
    """Return the instructions of a call by size, name and side."""
    totals: dict[tuple[str, ...], int] = {}
    with tempfile.TemporaryDirectory() as reports:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--separate-threads=no"]
        valgrind.append(f"--callgrind-out-file={reports}/out")
        command = [sys.executable, __file__, "--build", folder, "--calls", framework]
        if framework == JAX:
            command = [folder / "jax_calls", folder / PACKAGE / "libopgen_jax.so"]
        run([*valgrind, *command], PYTHONHASHSEED="0", OMP_NUM_THREADS="1")
        for report in Path(reports).iterdir():
            text = report.read_text()
            name = re.search(r"Client Request: (\d+) (\S+) (\S+) (\d+)", text)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
            if name and total:
                totals[name.groups()] = int(total[1])
    few, many = CALLS
    return {
        (size, name, side): (
            totals[str(size), name, side, str(many)] - totals[str(size), name, side, str(few)]
        )
        / (many - few)
        for size in SIZES
        for name in names(framework)
        for side in SIDES
    }


def names(framework: str) -> list[str]:
    """Return the functions that are measured."""
    return ["blend", "momentum_step_"] if framework == JAX else [name for name, _, _ in FORMS]


def table(folder: Path) -> Iterator[str]:
    yield "| framework | call | elements | opgen | same kernel | ratio | loop | ratio |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for framework in (*FRAMEWORKS, JAX):
        found = counted(folder, framework)
        title = "JAX, the handler" if framework == JAX else f"TVM-FFI, {framework}"
        for size in SIZES:
            for name in names(framework):
                ours, call, loop = (found[size, name, side] for side in SIDES)
                yield (
                    f"| {title} | `{name}` | {size:,} | {ours:,.0f} | {call:,.0f} | {ours / call:.2f} "
                    f"| {loop:,.0f} | {ours / loop:.2f} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--build", type=Path, default=HERE / "build" / "frameworks")
    parser.add_argument("--no-build", action="store_true", help="the libraries are there already")
    parser.add_argument("--calls", help=argparse.SUPPRESS)  # the process under valgrind
    arguments = parser.parse_args()
    if arguments.calls:
        calls(arguments.build, arguments.calls)
        return
    if not arguments.no_build:
        build(arguments.build)
    for line in table(arguments.build):
        print(line, flush=True)


if __name__ == "__main__":
    main()
