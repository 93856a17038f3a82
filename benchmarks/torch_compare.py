"""Compare five generated and hand-written operators for PyTorch: lines, variants, opcheck, calls, compile time.

    python benchmarks/torch_compare.py [--runs N] [--no-timing] [--write]

Builds the generated operators of benchmarks/torch/five.yaml with kernels.cpp, and by_hand.cpp, and prints Markdown
tables. Lines are lines of code. Calls are made from C++ through the dispatcher, alternately in one process, on tensors
with 16 elements, in inference mode and in the usual mode, where gradients are recorded but not required: nanoseconds as
median (min-max) of 41 rounds, and instructions counted by valgrind as (I(2N) - I(N)) / N. Compile times are processor seconds
of whole libraries, compiled and linked alternately with the flags of CMake's Release. `--write` puts the tables into
benchmarks/RESULTS.md. Needs g++, CMake, Ninja, valgrind and torch.
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

from compile import processor_seconds
from processes import run
from results import write_between
from torch_builds import (
    FLAGS,
    FOLDER,
    OPGEN,
    build_seconds,
    by_hand_commands,
    by_hand_library,
    call_tables,
    configured,
    library_in,
    program,
    rebuild_seconds,
    spread,
    torch_folder,
    torch_headers,
)

OPERATORS = ("axpy", "softclip", "exceeds", "span", "ends")

_MARK = re.compile(r"^// (\w+)$")


def lines_by_operator(path: Path) -> dict[str, int]:
    """Return the lines of code of each operator, and under `all` those that several share."""
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
    """Return the operator of a line: the only one that it names, or else that of its section."""
    if section != "all":
        return section
    named = [op for op in OPERATORS if re.search(rf'["/:( ]{op}[_.("]', text)]
    return named[0] if len(named) == 1 else "all"


def yaml_lines(path: Path) -> dict[str, int]:
    """Do the same as `lines_by_operator`, for YAML entries."""
    found = dict.fromkeys((*OPERATORS, "all"), 0)
    operator = "all"
    for line in path.read_text().splitlines():
        entry = re.match(r"- func: five::([a-z]+)", line)
        operator = entry[1] if entry is not None else operator
        if line.strip() and not line.startswith("#"):
            found[operator] += 1
    return found


def comparison(checks: dict[str, dict[str, dict[str, str]]], registered: dict[str, int]) -> str:
    """Return a table with lines, variants and opcheck results of each operator."""
    by_hand = lines_by_operator(FOLDER / "by_hand.cpp")
    kernels, yaml = lines_by_operator(FOLDER / "kernels.cpp"), yaml_lines(FOLDER / "five.yaml")
    lines = [
        "| operator | lines by hand | lines for opgen: YAML + C++ | variants | opcheck by hand | opcheck generated |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for op in (*OPERATORS, "all"):
        mine = f"{yaml[op]} + {kernels[op]}"
        if op == "all":
            lines.append(f"| shared by all | {by_hand[op]} | {mine} | | | |")
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
        lines.append(f"opcheck failures, {name}: " + ("; ".join(failures) or "none") + ".")
    return "\n".join(lines)


def _passed(results: dict[str, dict[str, str]], names: Sequence[str]) -> str:
    said = [what for name in names for what in results[name].values()]
    return f"{said.count('SUCCESS')} of {len(said)}"


def compile_table(folder: Path, torch: Path, runs: int) -> str:
    """Return the processor seconds of full builds of both libraries, for each step, measured alternately."""
    source, kernels = FOLDER / "by_hand.cpp", [FOLDER / "kernels.cpp"]
    built = configured(FOLDER / "five.yaml", kernels, folder / "built")
    extension = folder / "extension.cpp"
    extension.write_text("#include <torch/extension.h>\n")
    including = ["g++", *FLAGS, *torch_headers(torch), "-c", str(extension), "-o", "/dev/null"]
    taken: dict[str, list[float]] = {}
    for _ in range(runs):
        one = {HAND: sum(map(processor_seconds, by_hand_commands(source, folder, torch)))}
        seconds = build_seconds(built)
        one |= {text: seconds[step] for step, text in STEPS.items()}
        edited = built.parent / "kernels" / "kernels.cpp"
        one["built again after an edit of `kernels.cpp`"] = rebuild_seconds(built, edited)
        one["`#include <torch/extension.h>` alone"] = processor_seconds(including)
        for what, each in one.items():
            taken.setdefault(what, []).append(each)
    lines = ["| step | s, minimum / median / maximum | ratio to by hand |", "|---|---:|---:|"]
    for what, measured in taken.items():
        share = statistics.median(measured) / statistics.median(taken[HAND])
        lines.append(f"| {what} | {spread(measured)} | {share:.2f} |")
    return "\n".join(lines)


HAND = "by hand: one unit that includes the kernels, and the link"
STEPS = {
    "all": "**generated, as CMake builds it**",
    "generated": "of which the generated unit",
    "kernels": "of which `kernels.cpp`",
}


def calls_table(folder: Path, torch: Path, libraries: Sequence[Path]) -> str:
    calls = program(FOLDER / "calls.cpp", folder, torch)
    return "\n".join(call_tables(calls, libraries, "five", "hand"))


def build(folder: Path, torch: Path) -> list[Path]:
    """Build both libraries and return their paths."""
    built = configured(FOLDER / "five.yaml", [FOLDER / "kernels.cpp"], folder / "five")
    build_seconds(built)
    source = FOLDER / "by_hand.cpp"
    for command in by_hand_commands(source, folder, torch):
        run(command)
    return [library_in(built), by_hand_library(source, folder)]


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
        libraries = build(folder, torch)
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
            tables.append(calls_table(folder, torch, libraries))
            tables.append(compile_table(folder, torch, given.runs))
    text = "\n\n".join(tables)
    print(text)
    if given.write:
        write_between("torch_compare.py", text)


if __name__ == "__main__":
    main()
