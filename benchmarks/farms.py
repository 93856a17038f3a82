"""Compile a library of PyTorch's size with ccache, from two folders, and with distcc on two local servers.

    python benchmarks/farms.py FOLDER [SHARDS] [--write]

Needs torch (for its packaged file), ccache, distcc and about 2 GB in FOLDER, which must not exist. Each build generates code
for PyTorch's file again and compiles it without optimisation, one unit at a time, with stubs as kernels and a runtime that was built
before. Asserts that the build in the second folder finds all objects in the cache, and that the servers compile all units from
preprocessed sources (if root starts them, their user cannot read FOLDER). Prints a Markdown table; `--write` puts it into RESULTS.md.
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from results import write_between  # noqa: E402

from support.build import project_definitions, run, tool  # noqa: E402
from support.compile_server import compile_server  # noqa: E402
from support.pytorch import packaged_native_functions  # noqa: E402

IGNORED = "MPS,SparseMPS,SparseCsrMPS,XPU,MTIA"
# Without debug information, which contains the folder.
PLAIN = ("-DCMAKE_BUILD_TYPE=Plain", "-DCMAKE_CXX_FLAGS_PLAIN=-O0")


def compile_in(folder: Path, shards: int, launcher: str) -> int:
    """Generate the library in `folder`, compile it, and return the number of objects."""
    tree, built = folder / "tree", folder / "built"
    options = ["--shards", str(shards), "--ignore-keys", IGNORED]
    run([tool("opgen"), "generate", packaged_native_functions(), "-o", tree, *options])
    command = [tool("cmake"), "-S", tree, "-B", built, "-G", "Ninja"]
    command += [
        f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
        f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
    ]
    run([*command, *project_definitions(), *PLAIN])
    run([tool("cmake"), "--build", built, "-j", "1"])
    return sum(1 for _ in built.rglob("*.o"))


def row(what: str, build: Callable[[], tuple[int, str]]) -> str:
    """Return a row of the table. `build` returns the number of units and a description of the result."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    units, came = build()
    taken, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(what, f"{units} units, {came}, {taken:.0f} s", file=sys.stderr)
    return f"| {what} | {units} | {came} | {processor:.0f} | {taken:.0f} |"


def through_ccache(folder: Path, name: str, shards: int) -> tuple[int, Counter[str]]:
    """Build in `folder / name`; return the number of units, and the counts of ccache's results."""
    log = folder / f"{name}.log"
    os.environ["CCACHE_STATSLOG"] = str(log)
    units = compile_in(folder / name, shards, "ccache")
    return units, Counter(line for line in log.read_text().splitlines() if line[0] != "#")


def first_folder(folder: Path, shards: int) -> tuple[int, str]:
    units, counted = through_ccache(folder, "one", shards)
    assert counted["cache_miss"] == units, counted
    return units, f"{units} misses"


def second_folder(folder: Path, shards: int) -> tuple[int, str]:
    units, counted = through_ccache(folder, "the other", shards)
    direct, preprocessed = counted["direct_cache_hit"], counted["preprocessed_cache_hit"]
    assert direct + preprocessed == units and not counted["cache_miss"], counted
    return units, f"{units} hits, {direct} without preprocessing"


def two_servers(folder: Path, shards: int) -> tuple[int, str]:
    os.environ["DISTCC_DIR"] = str(folder / "distcc")
    (folder / "distcc").mkdir()
    with compile_server() as one, compile_server() as two:
        # Each server compiles one unit at a time. Without fallback, nothing is compiled locally if a server fails.
        os.environ["DISTCC_HOSTS"] = f"--randomize {one[0]}/1 {two[0]}/1"
        os.environ["DISTCC_FALLBACK"] = "0"
        units = compile_in(folder / "distributed", shards, "distcc")
        compiled = [read().count("COMPILE_OK") for _, read in (one, two)]
    assert sum(compiled) == units and all(compiled), compiled
    return units, f"{compiled[0]} and {compiled[1]}"


def main() -> None:
    arguments = [a for a in sys.argv[1:] if a != "--write"]
    if not arguments:
        sys.exit(__doc__)
    folder, shards = Path(arguments[0]).resolve(), int(arguments[1]) if arguments[1:] else 8
    folder.mkdir(mode=0o700)
    for program in ("ccache", "distcc", "distccd"):
        assert shutil.which(program), f"{program} is not installed"
    project_definitions()  # builds the runtime
    os.environ.update(CCACHE_DIR=str(folder / "cache"), CCACHE_BASEDIR=str(folder))
    text = "\n".join(
        [
            "| build | units | result | processor seconds | seconds |",
            "|---|---:|---|---:|---:|",
            row("ccache, empty", lambda: first_folder(folder, shards)),
            row("ccache, from another folder", lambda: second_folder(folder, shards)),
            row("distcc, two servers", lambda: two_servers(folder, shards)),
        ]
    )
    print(text)
    if "--write" in sys.argv:
        write_between("farms.py", text)


if __name__ == "__main__":
    main()
