"""Measure how long a new user waits: for README's first command, a second library, and an edit of a kernel.

    python benchmarks/first_day.py [--runs N] [--write]

Each run clones this repository (its last commit) into a fresh folder, with an empty cache of compiled parts and
without ccache, and measures one after the other:

* README's first command: create the environment, install opgen, compile and run examples/myadd;
* the second library: `opgen new`, reduced to one structured operator, `opgen build --python`, one call from Python;
* an edit of its kernel: `opgen build --python` again, and the same call;
* the first operator with a wheel that contains the compiled runtime: `opgen build --python` of examples/myadd in a new
  environment, with an empty cache. Neither the wheel's compilation nor the installation is measured.

pip's downloads come from its usual index; its cache is the user's. `--write` puts the table into RESULTS.md.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from results import write_between

REPOSITORY = Path(__file__).resolve().parents[1]
GOALS = {
    "README's first command": 45,
    "the second library": 8,
    "an edit of its kernel": 3,
    "the first operator with a compiled wheel": 6,
}

SCHEMA = """\
- func: second::twice(Tensor self) -> Tensor
  structured_delegate: twice.out

- func: second::twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: twice_out_cpu
"""
KERNEL = """\
#include <opgen/kernel.h>
#include <second/NativeFunctions.h>

OPGEN_META_FUNC(twice)(const Tensor& self) { build_borrowing_unary_op(maybe_get_output(), self); }
OPGEN_IMPL_FUNC(twice_out_cpu)(const Tensor&, const Tensor&) {
  OPGEN_DISPATCH_ALL_BUT_BOOL(common_dtype(), "twice", [&] {
    opgen::cpu_kernel(*this, [](scalar_t a) -> scalar_t { return a + a; });
  });
}
"""
CALL = "import second; assert second.twice(second.tensor([1., 2.])).tolist() == "


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="put the table into RESULTS.md")
    given = parser.parse_args()
    seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in GOALS}
    for _ in range(given.runs):
        with tempfile.TemporaryDirectory(prefix="first-day-") as folder:
            for name, pair in zip(GOALS, one_run(Path(folder))):
                seconds[name].append(pair)
                print(f"{name}: {pair[0]:.1f} s, {pair[1]:.1f} s of processor time", flush=True)
    text = table(seconds)
    print(text)
    if given.write:
        write_between("first_day.py", text)


def one_run(folder: Path) -> list[tuple[float, float]]:
    """Return the wall and processor seconds of the steps, in a folder that is empty."""
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("OPGEN_", "CCACHE_", "PYTHON"))
    }
    kept.pop("VIRTUAL_ENV", None)
    environment = {**kept, "CCACHE_DISABLE": "1", "OPGEN_CACHE_DIR": str(folder / "parts")}
    clone = folder / "opgen"
    subprocess.run(["git", "clone", "-q", REPOSITORY, clone], check=True)
    first = timed("OPGEN_EXTRAS= . .ci/prepare && sh examples/myadd/run.sh", clone, environment)

    environment["PATH"] = f"{clone / '.venv' / 'bin'}:{environment['PATH']}"
    # Write the schema and the kernel, before the measurement.
    work = folder / "work"
    work.mkdir()
    build = "opgen build second/native_functions.yaml -o build --kernels second/kernels --python"
    call = f"{build} && PYTHONPATH=build/cmake-build/python python -c '{CALL}"
    (work / "schema").write_text(SCHEMA)
    (work / "kernel").write_text(KERNEL)
    author = "rm second/derivatives.yaml && cp schema second/native_functions.yaml"
    author += " && cp kernel second/kernels/second.cpp"
    second = timed(f"opgen new second && {author} && {call}[2, 4]'", work, environment)
    (work / "second/kernels/second.cpp").write_text(KERNEL.replace("a + a", "a + a + a"))
    third = timed(f"{call}[3, 6]'", work, environment)
    return [first, second, third, with_a_compiled_wheel(folder, clone, environment)]


def with_a_compiled_wheel(
    folder: Path, clone: Path, environment: Mapping[str, str]
) -> tuple[float, float]:
    make = "OPGEN_WHEEL_PARTS=1 pip wheel -q --no-deps -w wheels ./opgen"
    install = "python3 -m venv new && new/bin/pip install -q wheels/opgen-*.whl"
    timed(f"{make} && {install}", folder, environment)
    environment = {**environment, "OPGEN_CACHE_DIR": str(folder / "none")}
    example = clone / "examples" / "myadd"
    build = f"new/bin/opgen build {example}/native_functions.yaml --kernels {example}/kernels"
    return timed(f"{build} -o new/myadd --python", folder, environment)


def timed(command: str, folder: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """Run a line of shell; return its wall seconds, and the processor seconds of all its processes."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table(seconds: Mapping[str, list[tuple[float, float]]]) -> str:
    lines = [
        "| step | goal, seconds | seconds, min / median / max | processor seconds, min / median / max |",
        "|---|---:|---|---|",
    ]
    for name, pairs in seconds.items():
        columns = [spread([pair[column] for pair in pairs]) for column in (0, 1)]
        lines.append(f"| {name} | {GOALS[name]} | {columns[0]} | {columns[1]} |")
    return "\n".join(lines)


def spread(values: list[float]) -> str:
    return f"{min(values):.1f} / {statistics.median(values):.1f} / {max(values):.1f}"


if __name__ == "__main__":
    main()
