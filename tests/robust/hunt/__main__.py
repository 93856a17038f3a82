"""Run the hunts, by hand or from .ci/nightly.

    python tests/robust/hunt                                   all of them, 30 minutes, continuing the last run
    python tests/robust/hunt calls --seconds 600 --jobs 2      one of them
    python tests/robust/hunt summary                           the counts and findings so far
    python tests/robust/hunt all --fresh                       from the beginning
    python tests/robust/hunt threads --sanitizer thread        with another build: address (the default), thread, none

With `none`, the hunts use the build of the other tests, so nothing has to be compiled. Each storage then has pages of
its own, so that an access outside of it ends the process. The exit code is 1 if anything was found.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from robust.hunt.allocation import hunt_allocation
from robust.hunt.builds import SANITIZERS, Build, built
from robust.hunt.calls import hunt_calls, summary
from robust.hunt.findings import Findings
from robust.hunt.plans import Plan
from robust.hunt.sequences import hunt_sequences
from robust.hunt.threads import hunt_threads
from support.build import cache_folder

# The share of the time for each hunt.
HUNTS = {"calls": 0.6, "sequences": 0.15, "threads": 0.1, "allocation": 0.15}


_JOBS = max(1, (os.cpu_count() or 1) // 2)


def main() -> int:
    parser = argparse.ArgumentParser(description="Hunt for defects in our Python package.")
    choices = ("all", "build", "summary", *HUNTS)
    parser.add_argument("what", nargs="?", default="all", choices=choices)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument(
        "--rounds", type=int, default=1 << 30, help="the largest number of rounds of calls"
    )
    parser.add_argument(
        "--jobs", type=int, default=_JOBS, help="how many pairs of processes make single calls"
    )
    parser.add_argument("--part", type=int, help="the number of this process among --jobs")
    parser.add_argument("--only", default="*", help="the overloads to call, as a glob")
    parser.add_argument(
        "--accepted",
        type=int,
        default=40,
        help="how many calls of an overload PyTorch must accept in a round",
    )
    parser.add_argument("--sanitizer", default="address", choices=SANITIZERS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args()
    if given.folder is None:
        given.folder = cache_folder() / f"hunt-{given.sanitizer}"
    if given.fresh:
        shutil.rmtree(given.folder, ignore_errors=True)
    if given.what != "summary":
        build = built(given.sanitizer)
        if given.what == "build":
            return 0
        if given.part is not None:
            _calls_of_part(given, build)
            return 0
        hunts = HUNTS if given.what == "all" else {given.what: 1.0}
        for name, share in hunts.items():
            started = time.monotonic()
            _hunt(name, share * given.seconds, given, build)
            print(f"{name}: {time.monotonic() - started:.0f} s", flush=True)
    findings = Findings.all_in(given.folder)
    print(summary(findings, 1000))
    return 1 if any(each.defects for each in findings) else 0


def _hunt(name: str, seconds: float, given: argparse.Namespace, build: Build) -> None:
    if name == "calls":
        _calls(seconds, given)
        return
    findings = Findings(given.folder, name)
    if name == "sequences":
        hunt_sequences(build, findings, seconds=seconds)
        return
    if not _plans(given.folder):
        _calls(1e9, argparse.Namespace(**{**vars(given), "rounds": 1, "accepted": 3}))
    if name == "threads":
        hunt_threads(build, findings, _plans(given.folder), seconds=seconds)
    else:
        hunt_allocation(build, findings, _plans(given.folder), seconds=seconds)


def _calls_of_part(given: argparse.Namespace, build: Build) -> None:
    hunt_calls(
        build,
        Findings(given.folder, f"calls-{given.part}"),
        part=(given.part, given.jobs),
        seconds=given.seconds,
        rounds=given.rounds,
        only=given.only,
        accepted=given.accepted,
    )


def _calls(seconds: float, given: argparse.Namespace) -> None:
    """Run each part in its own process."""
    options: Sequence[object] = (
        *("--seconds", seconds, "--rounds", given.rounds, "--only", given.only),
        *("--accepted", given.accepted, "--folder", given.folder, "--jobs", given.jobs),
        *("--sanitizer", given.sanitizer),
    )
    command = [sys.executable, str(Path(__file__).parent), "calls", *map(str, options)]
    parts = [
        subprocess.Popen([*command, "--part", str(part)], env=os.environ)
        for part in range(given.jobs)
    ]
    failed = [part for part in range(given.jobs) if parts[part].wait() != 0]
    assert not failed, f"parts {failed} of the hunt in calls ended with an error"


def _plans(folder: Path) -> list[Plan]:
    """Return the plans that the hunt in calls has kept for the others."""
    found: list[Plan] = []
    for file in sorted(folder.glob("*.plans")):
        kept = pickle.loads(file.read_bytes())
        if isinstance(kept, dict):
            found += [plan for plans in kept.values() for plan in plans]
    return found


if __name__ == "__main__":
    sys.exit(main())
