"""Build and call generated and hand-written operators for PyTorch, for comparisons."""

from __future__ import annotations

import importlib.util
import re
import shlex
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from compile import processor_seconds
from processes import run

from opgen.data import cmake_dir

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "torch"
OPGEN = (sys.executable, "-c", "from opgen.cli.main import main; main()")
# The flags of CMake's Release, so that both sides are compiled in the same way.
FLAGS = ("-std=gnu++20", "-O3", "-DNDEBUG", "-fPIC")
MODES = ("usual", "inference")
_TITLES = {
    "usual": "Usual mode",
    "inference": "Inference mode",
    "constant": "Usual mode, with all arguments `non_differentiable`",
}

_PYTHON_INCLUDE = "import sysconfig; print(sysconfig.get_path('include'))"


def torch_folder() -> Path:
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: it is needed for the comparison")
    return Path(spec.origin).parent


def torch_headers(torch: Path) -> list[str]:
    """Return the compiler's arguments for the headers of PyTorch and Python."""
    python = shlex.split(run([sys.executable, "-c", _PYTHON_INCLUDE]))
    headers = [torch / "include", torch / "include/torch/csrc/api/include", *python]
    return [part for path in headers for part in ("-isystem", str(path))]


def torch_libraries(torch: Path) -> list[str]:
    return [f"-L{torch}/lib", "-ltorch", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{torch}/lib"]


def by_hand_commands(source: Path, folder: Path, torch: Path) -> tuple[list[str], list[str]]:
    """Return the commands that compile and link the hand-written library."""
    unit = folder / f"{source.stem}.o"
    compile_it = ["g++", *FLAGS, *torch_headers(torch), "-c", str(source), "-o", str(unit)]
    library = str(by_hand_library(source, folder))
    return compile_it, ["g++", "-shared", str(unit), "-o", library, *torch_libraries(torch)]


def by_hand_library(source: Path, folder: Path) -> Path:
    return folder / f"lib{source.stem}.so"


def program(source: Path, folder: Path, torch: Path) -> Path:
    """Compile a program that makes calls, and return its path."""
    made = folder / source.stem
    link = ["-Wl,--no-as-needed", *torch_libraries(torch), "-ldl"]
    run(["g++", *FLAGS, *torch_headers(torch), source, "-o", made, *link])
    return made


def configured(
    yaml: Path,
    kernels: Sequence[Path],
    folder: Path,
    *options: str,
    derivatives: Path | None = None,
    target: str = "torch",
) -> Path:
    """Configure a generated library with its kernels without building it, and return the build folder.

    For target torch-stable, the library is in a Python package.
    """
    tree, built = folder / "tree", folder / "built"
    sources = folder / "kernels"
    sources.mkdir(parents=True, exist_ok=True)
    for path in (*kernels, *FOLDER.glob("*.h")):
        (sources / path.name).write_bytes(path.read_bytes())
    formulas = () if derivatives is None else ("--derivatives", derivatives)
    package = ("--python",) if target == "torch-stable" else ()
    run([*OPGEN, "generate", yaml, "--target", target, "-o", tree, *formulas, *package])
    units = ";".join(str(sources / path.name) for path in kernels)
    configure = ["cmake", "-S", str(tree), "-B", str(built), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=Release"]
    module = f"opgen_{target.replace('-', '_')}"
    configure += [f"-D{module}_DIR={cmake_dir()}", f"-DPython_EXECUTABLE={sys.executable}"]
    configure += [f"-DOPGEN_KERNELS={units}", "-DCMAKE_CXX_COMPILER_LAUNCHER=", *options]
    run(configure)
    return built


def library_in(built: Path) -> Path:
    return next(iter((*built.glob("lib*.so"), *built.glob("python/*/lib*.so"))))


def build_seconds(built: Path) -> dict[str, float]:
    """Return the processor seconds of a full build, for each step and in total (`all`)."""
    run(["ninja", "-C", built, "-t", "clean"])
    outputs = run(["ninja", "-C", built, "-t", "targets", "all"])
    steps = {
        "generated": r"^(CMakeFiles/\S+/Unity/\S+\.o): ",
        "kernels": r"^(CMakeFiles/(?!\S*/Unity/)\S+\.o): ",
        "link": r"^((?:python/\S+/)?lib\S+\.so): ",
    }
    # The part that all libraries for torch-stable have in common is compiled once, and then taken from the user's cache.
    common = re.findall(r"^(opgen-\S+\.a): ", outputs, re.MULTILINE)
    if common:
        run(["ninja", "-j1", "-C", built, *common])
    taken = {}
    for step, pattern in steps.items():
        targets = re.findall(pattern, outputs, re.MULTILINE)
        taken[step] = _quiet(["ninja", "-j1", "-C", str(built), *targets]) if targets else 0.0
    taken["all"] = sum(taken.values())
    return taken


def rebuild_seconds(built: Path, edited: Path) -> float:
    """Return the processor seconds of a build after an edit of one source."""
    edited.write_text(edited.read_text() + "// An edit.\n")
    return _quiet(["ninja", "-j1", "-C", str(built)])


def _quiet(command: Sequence[str]) -> float:
    return processor_seconds(["sh", "-c", 'exec "$@" > /dev/null', "sh", *command])


def call_tables(
    calls: Path | Sequence[str | Path],
    libraries: Sequence[Path],
    generated: str,
    hand: str,
    modes: Sequence[str] = MODES,
) -> list[str]:
    """Return Markdown for each mode: nanoseconds and instructions of each call on both sides."""
    tables = []
    for mode in modes:
        counted = instructions(calls, libraries, mode)
        measured = nanoseconds(calls, libraries, mode)
        tables += [
            f"{_TITLES[mode]}:",
            "",
            "| call | generated, ns | by hand, ns | share | generated, instructions | by hand | share |",
            "|---|---:|---:|---:|---:|---:|---:|",
            *_rows(measured, counted, generated, hand),
            "",
        ]
    return tables[:-1]


def instruction_tables(
    calls: Path | Sequence[str | Path],
    libraries: Sequence[Path],
    generated: str,
    hand: str,
    modes: Sequence[str],
) -> list[str]:
    """Return Markdown for each mode: instructions of each call on both sides."""
    tables: list[str] = []
    for mode in modes:
        counted = instructions(calls, libraries, mode)
        rows = []
        for name, count in counted.items():
            side, _, call = name.partition("::")
            if side == generated:
                by_hand = counted[f"{hand}::{call}"]
                rows.append(f"| `{call}` | {count:,.0f} | {by_hand:,.0f} | {count / by_hand:.3f} |")
            elif side != hand:
                rows.append(f"| `{name}` | {count:,.0f} | | |")
        head = ["| call | generated, instructions | by hand | share |", "|---|---:|---:|---:|"]
        tables += [f"{_TITLES[mode]}:", "", *head, *sorted(rows), ""]
    return tables[:-1]


def _rows(
    measured: dict[str, tuple[float, float, float]],
    counted: dict[str, float],
    generated: str,
    hand: str,
) -> Iterator[str]:
    for name in measured:
        side, _, call = name.partition("::")
        if side not in (generated, hand):
            yield f"| `{name}` | {_ns(measured[name])} | | | {counted[name]:,.0f} | | |"
        if side != generated:
            continue
        other = f"{hand}::{call}"
        times = f"{_ns(measured[name])} | {_ns(measured[other])}"
        share = measured[name][0] / measured[other][0]
        counts = f"{counted[name]:,.0f} | {counted[other]:,.0f}"
        yield f"| `{call}` | {times} | {share:.2f} | {counts} | {counted[name] / counted[other]:.3f} |"


def _ns(measured: tuple[float, float, float]) -> str:
    median, least, most = measured
    return f"{median:.0f} ({least:.0f}-{most:.0f})"


def nanoseconds(
    calls: Path | Sequence[str | Path], libraries: Sequence[Path], mode: str
) -> dict[str, tuple[float, float, float]]:
    """Return the median, minimum and maximum of the rounds for each call."""
    found = {}
    for line in run([*_command(calls), *libraries, mode], OMP_NUM_THREADS="1").splitlines():
        name, *numbers = line.split()
        median, least, most = map(float, numbers)
        found[name] = (median, least, most)
    return found


def instructions(
    calls: Path | Sequence[str | Path], libraries: Sequence[Path], mode: str
) -> dict[str, float]:
    """Return the instructions of each call, from the dumps for N and 2N calls."""
    totals: dict[str, list[tuple[int, int]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no"]
        output = f"--callgrind-out-file={folder}/out"
        run([*valgrind, output, *_command(calls), *libraries, mode, "count"], OMP_NUM_THREADS="1")
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


def _command(calls: Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return (calls,) if isinstance(calls, Path) else calls


def spread(taken: Sequence[float]) -> str:
    return f"{min(taken):.1f} / {statistics.median(taken):.1f} / {max(taken):.1f}"
