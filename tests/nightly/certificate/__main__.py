"""Build two libraries of operators with a defect each, and print what `opgen verify` finds of them.

    python tests/nightly/certificate FOLDER --seeds 0 1 --mode quick

A finding counts for a defect if it names the operator; it is "by its property" if table.yaml lists its code. FOLDER receives the libraries, which a later run builds only where they changed, and the reports of verify. With
--shows, it runs the lines of table.yaml that show each defect instead.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import yaml

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))

from support.build import environment, jobs, launcher, run, tool  # noqa: E402

TARGETS = ("runtime", "torch")
_HANGS = 20.0  # seconds

_SHOWS = """
import importlib, sys
import numpy as np
torch = __import__("torch") if sys.argv[1] == "torch" else None
package = importlib.import_module("cert_" + sys.argv[1])
names = {"np": np, "torch": torch, "m": package}
*lines, last = sys.stdin.read().strip().splitlines()
exec("\\n".join(lines), names)
sys.exit(0 if eval(last, names) else 3)
"""


class Defect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of table.yaml."""

    op: str
    kind: str
    origin: str
    shows: str
    dies: str = ""
    codes: list[str] = []


def table() -> dict[str, list[Defect]]:
    text = (HERE / "table.yaml").read_text(encoding="utf-8")
    return msgspec.convert(yaml.safe_load(text), dict[str, list[Defect]])


def build(target: str, folder: Path) -> None:
    variables = environment() | {
        "CXXFLAGS": "-O0 -fopenmp"
    }  # at::parallel_for has one thread without OpenMP
    if launcher():
        variables["CMAKE_CXX_COMPILER_LAUNCHER"] = launcher()[0]
    schemas = HERE / target / "native_functions.yaml"
    command = [tool("opgen"), "build", schemas, "--target", target, "--python"]
    command += ["--kernels", HERE / target, "--build-type", "None"]
    if target == "torch":
        command += ["--python-folder", HERE / "torch" / "package"]
    run([*command, "-o", folder / target, "-j", str(jobs())], env=variables)


def shown(target: str, folder: Path, defect: Defect) -> str:
    """Run the lines that show a defect; return what they did instead, or an empty text."""
    variables = os.environ | {"PYTHONPATH": str(folder / target / "cmake-build" / "python")}
    command = [sys.executable, "-c", _SHOWS, target]
    try:
        done = subprocess.run(
            command,
            input=defect.shows,
            env=variables,
            text=True,
            capture_output=True,
            timeout=_HANGS if defect.dies == "hang" else 300,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "" if defect.dies == "hang" else "it hangs"
    if defect.dies == "crash" and done.returncode < 0:
        return ""
    if not defect.dies and done.returncode == 0:
        return ""
    return f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"


def verify(target: str, folder: Path, seed: int, options: list[str]) -> dict[str, Any]:
    """Run `opgen verify`; return its report, with the seconds that it took."""
    report = folder / f"{target}-{seed}.json"
    report.unlink(missing_ok=True)
    command = [tool("opgen"), "verify", str(HERE / target / "native_functions.yaml")]
    command += ["--build", str(folder / target), "--seed", str(seed), "--report", str(report)]
    begin = time.monotonic()
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert report.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(report.read_text(encoding="utf-8")) | {"wall": time.monotonic() - begin}


def shown_by(program: Path) -> tuple[int, str]:
    """Run a program that `opgen verify --programs` has written; return its exit code, and what it prints."""
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Findings(msgspec.Struct, frozen=True):
    """What the reports of several seeds say of the operators of one library."""

    codes: dict[str, list[list[str]]]  # for each operator, those of each seed
    texts: dict[str, list[str]]
    seconds: list[float]


def findings(reports: list[dict[str, Any]]) -> Findings:
    codes: dict[str, list[list[str]]] = {}
    texts: dict[str, list[str]] = {}
    seconds = []
    for number, report in enumerate(reports):
        for operator in report["operators"]:
            name = operator["group"].partition("::")[2].rstrip("_").removesuffix("_backward")
            own = codes.setdefault(name, [[] for _ in reports])[number]
            seconds.append(operator["seconds"])
            for verdict in operator["verdicts"]:
                code = report["properties"][verdict["property"]]
                if verdict["status"] == "failed" and code not in own:
                    own.append(code)
                    texts.setdefault(name, []).append(f"{code} {verdict['findings'][0]['message']}")
    return Findings(codes, texts, seconds)


def print_table(target: str, seeds: list[int], found: Findings, walls: list[float]) -> None:
    """Print a row for each defect, then false alarms, sums and times."""
    defects = table()[target]
    print(f"\n| {target} | kind | origin | " + " | ".join(f"seed {seed}" for seed in seeds) + " |")
    print("|---|---|---|" + "---|" * len(seeds))
    right, any_code = [0] * len(seeds), [0] * len(seeds)
    for defect in defects:
        cells = []
        for number, codes in enumerate(found.codes.get(defect.op.rstrip("_"), [[]] * len(seeds))):
            hit = bool(set(codes) & set(defect.codes))
            right[number] += hit
            any_code[number] += bool(codes)
            cells.append(("" if hit or not codes else "other: ") + " ".join(codes) or "-")
        print(f"| {defect.op} | {defect.kind} | {defect.origin} | " + " | ".join(cells) + " |")
    for number, seed in enumerate(seeds):
        counts = f"{any_code[number]} of {len(defects)} with a finding, {right[number]} by their property"
        print(f"\n{target}, seed {seed}: {counts}; {walls[number]:.0f} s")
    named = {defect.op.rstrip("_") for defect in defects}
    for name, texts in found.texts.items():
        if name not in named:
            print(f"false alarm: {target} {name}: " + "; ".join(dict.fromkeys(texts)))
    ranked = sorted(found.seconds)
    print(
        f"seconds of the processor for an operator: median {statistics.median(ranked):.1f}, 90th percentile ",
        end="",
    )
    print(f"{ranked[len(ranked) * 9 // 10]:.1f}, most {ranked[-1]:.1f}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", choices=TARGETS, nargs="+", default=TARGETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--mode", choices=("quick", "default", "thorough"), default="quick")
    parser.add_argument("--shows", action="store_true", help="show that the defects are there")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--operators", nargs="+", default=[], help="only these")
    given = parser.parse_args()
    folder = given.folder.resolve()
    for target in given.target:
        if not given.no_build:
            build(target, folder)
        defects = [d for d in table()[target] if not given.operators or d.op in given.operators]
        if given.shows:
            with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
                instead = list(pool.map(lambda d, t=target: shown(t, folder, d), defects))
            for defect, problem in zip(defects, instead, strict=True):
                if problem:
                    print(f"{target} {defect.op}: not shown: {problem}")
            print(f"{target}: {instead.count('')} of {len(defects)} defects are shown")
            continue
        options = [] if given.mode == "default" else [f"--{given.mode}"]
        options += [f"{operator}*" for operator in given.operators]
        reports = [verify(target, folder, seed, options) for seed in given.seeds]
        walls = [report["wall"] for report in reports]
        print_table(target, given.seeds, findings(reports), walls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
