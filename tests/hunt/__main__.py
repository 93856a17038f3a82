"""Runs the hunts by hand, and for .ci/nightly.

    python tests/hunt                                 all, for --seconds in all
    python tests/hunt calls --seconds 600 --jobs 2    single calls, from where the last run ended
    python tests/hunt summary                         what has been counted and found
    python tests/hunt --fresh                         from the beginning
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_TESTS), str(_TESTS.parent / "src")]

from hunt.builds import built
from hunt.calls import hunt_calls, summary
from hunt.findings import Findings
from support.build import cache_folder

HUNTS = ("calls", "sequences", "threads", "allocation")


def main() -> int:
    parser = argparse.ArgumentParser(description="Hunt for defects in our package of Python.")
    parser.add_argument("what", nargs="?", default="all", choices=("all", "build", "summary", *HUNTS))
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--rounds", type=int, default=1 << 30)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", type=int, help="which of --jobs this process is")
    parser.add_argument("--only", default="*", help="overloads, as a glob")
    parser.add_argument("--accepted", type=int, default=40, help="of an overload in a round")
    parser.add_argument("--folder", type=Path, default=cache_folder() / "hunt")
    parser.add_argument("--fresh", action="store_true")
    given = parser.parse_args()
    if given.fresh:
        shutil.rmtree(given.folder, ignore_errors=True)
    if given.what == "summary":
        print(summary(Findings.all_in(given.folder, "calls-*"), 1000))
        return 0
    build = built("address")
    if given.what == "build":
        return 0
    if given.part is not None:
        findings = Findings(given.folder, f"calls-{given.part}")
        hunt_calls(
            build,
            findings,
            part=(given.part, given.jobs),
            seconds=given.seconds,
            rounds=given.rounds,
            only=given.only,
            accepted=given.accepted,
        )
        return 0
    return _calls(given)


def _calls(given: argparse.Namespace) -> int:
    started = time.monotonic()
    options = ["--seconds", given.seconds, "--rounds", given.rounds, "--only", given.only]
    options += ["--accepted", given.accepted, "--folder", given.folder, "--jobs", given.jobs]
    command = [sys.executable, str(Path(__file__).parent), "calls", *map(str, options)]
    parts = [
        subprocess.Popen([*command, "--part", str(part)], env=os.environ)
        for part in range(given.jobs)
    ]
    failed = [part for part in parts if part.wait() != 0]
    findings = Findings.all_in(given.folder, "calls-*")
    print(summary(findings, 1000))
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if failed or any(each.defects for each in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
