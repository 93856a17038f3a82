"""Five operators for PyTorch, generated and written by hand: lines, variants, opcheck, calls, time to compile.

    python benchmarks/torch_compare.py [--runs N] [--no-timing] [--write]

Generates and builds benchmarks/torch/five.yaml with kernels.cpp, and by_hand.cpp beside it, and prints Markdown
tables. Lines are those with code. Calls are made from C++ through the dispatcher, in turn in one process, in
inference mode, on tensors of 16 elements: nanoseconds as median (min-max) of 41 rounds, and instructions by valgrind
as (I(2N) - I(N)) / N. Compile times are processor seconds as the minimum and median of the runs, in turn. `--write`
puts the tables into benchmarks/RESULTS.md. Needs g++, CMake, Ninja, valgrind and torch.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shlex
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from processes import run
from results import write_between

from compile import processor_seconds

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "torch"
OPERATORS = ("axpy", "softclip", "exceeds", "span", "ends")
OPGEN = (sys.executable, "-c", "from opgen.cli.main import main; main()")

_MARK = re.compile(r"^// (\w+)$")


def torch_folder() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: nothing to compare with")
    return Path(spec.origin).parent


def lines_by_operator(path: Path) -> dict[str, int]:
    """Lines with code for each operator; under `all` those that are for no single one."""
    found = dict.fromkeys((*OPERATORS, "all"), 0)
    section = "all"
    for line in path.read_text().splitlines():
        text = line.strip()
        mark = _MARK.match(text)
        if mark is not None and mark[1] in OPERATORS:
            section = mark[1]
        elif text.startswith(("}  // namespace", "TORCH_LIBRARY")):
            section = "all"
        if text and not text.startswith(("//", "#  ", "# ")):
            found[_operator_of(text, section)] += 1
    return found


def _operator_of(text: str, section: str) -> str:
    """What a line is about: the only operator that it names, else that of its section."""
    if section != "all":
        return section
    named = [op for op in OPERATORS if re.search(rf'["/:( ]{op}[_.("]', text)]
    return named[0] if len(named) == 1 else "all"


def yaml_lines(path: Path) -> dict[str, int]:
    """As `lines_by_operator`, for the entries."""
    found = dict.fromkeys((*OPERATORS, "all"), 0)
    operator = "all"
    for line in path.read_text().splitlines():
        entry = re.match(r"- func: five::([a-z]+)", line)
        operator = entry[1] if entry is not None else operator
        if line.strip() and not line.startswith("#"):
            found[operator] += 1
    return found


def comparison(checks: dict[str, dict[str, dict[str, str]]], registered: dict[str, int]) -> str:
    """Operator by operator: lines, variants, opcheck."""
    by_hand = lines_by_operator(FOLDER / "by_hand.cpp")
    kernels, yaml = lines_by_operator(FOLDER / "kernels.cpp"), yaml_lines(FOLDER / "five.yaml")
    lines = [
        "| operator | lines by hand | lines for opgen: YAML + C++ | variants | opcheck by hand | opcheck generated |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for op in (*OPERATORS, "all"):
        mine = f"{yaml[op]} + {kernels[op]}"
        if op == "all":
            lines.append(f"| for all of them | {by_hand[op]} | {mine} | | | |")
            continue
        variants = [name for name in checks["five"] if name.split(".")[0].rstrip("_") == op]
        passed = [_passed(checks[side], variants) for side in ("hand", "five")]
        lines.append(
            f"| `{op}` | {by_hand[op]} | {mine} | {len(variants)} | {passed[0]} | {passed[1]} |"
        )
    every = list(checks["five"])
    passed = [_passed(checks[side], every) for side in ("hand", "five")]
    total = f"{sum(yaml.values())} + {sum(kernels.values())}"
    lines.append(
        f"| all | {sum(by_hand.values())} | {total} | {len(every)} | {passed[0]} | {passed[1]} |"
    )
    kept = ", ".join(f"{key} {count}" for key, count in sorted(registered.items()))
    lines += ["", f"Registered by the generated library, by key: {kept}."]
    for side, name in (("hand", "by hand"), ("five", "generated")):
        failed: dict[str, list[str]] = {}
        for op, tests in checks[side].items():
            for test, what in tests.items():
                if what != "SUCCESS":
                    failed.setdefault(f"{test}: {what.partition(';')[0]}", []).append(f"`{op}`")
        failures = [f"{', '.join(ops)}: {what}" for what, ops in sorted(failed.items())]
        lines.append(f"opcheck of what is {name}: " + ("; ".join(failures) or "no failure") + ".")
    return "\n".join(lines)


def _passed(results: dict[str, dict[str, str]], names: Sequence[str]) -> str:
    said = [what for name in names for what in results[name].values()]
    return f"{said.count('SUCCESS')} of {len(said)}"


def calls_table(program: Path, libraries: Sequence[Path]) -> str:
    """Nanoseconds and instructions of each call."""
    names = ("axpy", "axpy.out", "axpy_", "span", "ends")
    references = {"axpy": "at::add", "axpy.out": "at::add.out", "axpy_": "at::add_"}
    counted = instructions(program, libraries)
    measured = {}
    for line in run([program, *libraries], OMP_NUM_THREADS="1").splitlines():
        name, *numbers = line.split()
        median, least, most = map(float, numbers)
        measured[name] = f"{median:.0f} ({least:.0f}-{most:.0f})"
    lines = [
        "| call | generated, ns | by hand, ns | at::, ns | generated, instructions | by hand | at:: |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        sides = [f"five::{name}", f"hand::{name}", references.get(name)]
        times = [measured[side] if side else "" for side in sides]
        count = [f"{counted[side]:,.0f}" if side else "" for side in sides]
        lines.append(f"| `{name}` | " + " | ".join((*times, *count)) + " |")
    return "\n".join(lines)


def instructions(program: Path, libraries: Sequence[Path]) -> dict[str, float]:
    """Of each call, from the dumps for N and 2N of them."""
    totals: dict[str, list[tuple[int, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
        output = f"--callgrind-out-file={folder}/out"
        run([*valgrind, output, program, *libraries, "count"], OMP_NUM_THREADS="1")
        for path in Path(folder).glob("out.*"):
            text = path.read_text()
            dumped = re.search(r"^desc: Trigger: Client Request: (\S+) (\d+)$", text, re.MULTILINE)
            total = re.search(r"^totals: (\d+)", text, re.MULTILINE)
            if dumped is not None and total is not None:
                totals.setdefault(dumped[1], []).append((int(dumped[2]), int(total[1])))
    counted = {}
    for name, (one, two) in ((n, sorted(found)) for n, found in totals.items()):
        counted[name] = (two[1] - one[1]) / (two[0] - one[0])
    return counted


def compile_table(tree: Path, include: Sequence[str], folder: Path, runs: int) -> str:
    """Processor seconds of each unit, in turn."""
    generated = sorted(tree.glob("cmake-build/CMakeFiles/five.dir/Unity/*.cxx"))
    extension = folder / "extension.cpp"
    extension.write_text("#include <torch/extension.h>\n")
    units = {
        "by hand, five operators, kernels and all": FOLDER / "by_hand.cpp",
        "generated: registrations and stubs": generated[0],
        "`kernels.cpp` beside it": FOLDER / "kernels.cpp",
        "`#include <torch/extension.h>` alone": extension,
    }
    assert len(generated) == 1, generated
    compiler = ["g++", "-std=c++20", "-O2", "-DNDEBUG", "-fPIC", *include]
    times: dict[str, list[float]] = {name: [] for name in units}
    for _ in range(runs):
        for name, source in units.items():
            command = [*compiler, "-c", str(source), "-o", str(folder / "unit.o")]
            times[name].append(processor_seconds(command))
    first = min(times["by hand, five operators, kernels and all"])
    lines = ["| unit | s, minimum | median | of the one by hand |", "|---|---:|---:|---:|"]
    for name, taken in times.items():
        share = f"{min(taken) / first:.2f}"
        lines.append(f"| {name} | {min(taken):.1f} | {statistics.median(taken):.1f} | {share} |")
    return "\n".join(lines)


def build(folder: Path, torch: Path) -> tuple[list[Path], list[str]]:
    """The two libraries, and the compiler's arguments for any unit."""
    tree = folder / "five"
    kernels = folder / "kernels"
    kernels.mkdir()
    for name in ("kernels.cpp", "loops.h"):
        (kernels / name).write_bytes((FOLDER / name).read_bytes())
    yaml = FOLDER / "five.yaml"
    run([*OPGEN, "build", yaml, "--target", "torch", "-o", tree, "--kernels", kernels, "-j", "1"])
    headers = [torch / "include", torch / "include/torch/csrc/api/include"]
    python = shlex.split(run([sys.executable, "-c", _PYTHON_INCLUDE]))
    # CMake names the sources of a unit from the tree.
    own = (HERE.parent / "runtime/torch/include", tree, tree / "include", FOLDER)
    include = [f"-I{path}" for path in own]
    include += [part for path in (*headers, *python) for part in ("-isystem", str(path))]
    by_hand = folder / "libhand.so"
    link = [f"-L{torch}/lib", "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch}/lib"]
    compiler = ["g++", "-std=c++20", "-O3", "-DNDEBUG", "-fPIC", *include]
    run([*compiler, "-shared", FOLDER / "by_hand.cpp", "-o", by_hand, *link])
    run(
        [
            *compiler,
            FOLDER / "calls.cpp",
            "-o",
            folder / "calls",
            "-Wl,--no-as-needed",
            *link,
            "-ldl",
        ]
    )
    return [tree / "cmake-build/libfive.so", by_hand], include


_PYTHON_INCLUDE = "import sysconfig; print(sysconfig.get_path('include'))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=3, help="of each compiler")
    parser.add_argument("--no-timing", action="store_true")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    torch = torch_folder()
    os.environ.pop("CMAKE_CXX_COMPILER_LAUNCHER", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        libraries, include = build(folder, torch)
        checks = json.loads(
            run([sys.executable, FOLDER / "opcheck.py", *libraries]).splitlines()[-1]
        )
        rows = json.loads(
            run(
                [
                    *OPGEN,
                    "dump",
                    str(FOLDER / "five.yaml"),
                    "--target",
                    "torch",
                    "--stage",
                    "registrations",
                ]
            )
        )
        registered: dict[str, int] = {}
        for row in rows:
            registered[row["key"]] = registered.get(row["key"], 0) + 1
        tables = [comparison(checks, registered)]
        if not given.no_timing:
            tables.append(calls_table(folder / "calls", libraries))
            tables.append(compile_table(folder / "five", include, folder, given.runs))
    text = "\n\n".join(tables)
    print(text)
    if given.write:
        write_between("torch_compare.py", text)


if __name__ == "__main__":
    main()
