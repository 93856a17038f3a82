"""Measure the time to load a library that registers all operators of PyTorch's native_functions.yaml.

    python benchmarks/startup.py RUNTIME [RUNS]

RUNTIME: the folder of libopgen_core.so. The library has a slot for each operator, and the schemas, tags and keys
that `opgen dump` prints, in the same tables as generated code. All of its kernels are one function, so that it
compiles in seconds. Prints a Markdown table: milliseconds of processor time of `dlopen` as median
(min-max), each in a separate process. Needs g++ and an installed torch (for its YAML).
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from processes import run

HERE = Path(__file__).resolve().parent
OPGEN = (sys.executable, "-c", "from opgen.cli.main import main; main()")
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", "-fPIC", "-fno-gnu-unique")
# The keys that a build for the CPU registers.
KEYS = (
    "BackendSelect",
    "CPU",
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
    "Meta",
    "SparseCPU",
    "SparseCsrCPU",
)
MAIN = """
#include <dlfcn.h>
#include <time.h>
#include <cstdio>
#include <opgen/dispatch/dispatcher.h>

int main(int, char** arguments) {
  auto now = [] {
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
  };
  double started = now();
  void* library = dlopen(arguments[1], RTLD_NOW);
  double taken = now() - started;
  if (library == nullptr) return std::fprintf(stderr, "%s\\n", dlerror()), 1;
  std::printf("%f %zu\\n", taken, opgen::Dispatcher::singleton().operators().size());
}
"""

Fact = dict[str, Any]


def packaged() -> Path:
    spec = importlib.util.find_spec("torchgen")
    if spec is None or spec.origin is None:
        sys.exit("torch is not installed: its native_functions.yaml is needed")
    return Path(spec.origin).parent / "packaged" / "ATen" / "native" / "native_functions.yaml"


def dump(*stage: str) -> list[Fact]:
    return list(json.loads(run([*OPGEN, "dump", str(packaged()), *stage])))


def quoted(text: str) -> str:
    return json.dumps(text)


def source(operators: Iterable[Fact], registrations: Iterable[Fact], kernels: bool) -> str:
    """Return the source of the library, which is a single file."""
    slots: list[str] = []
    rows: list[str] = []
    numbers: dict[str, int] = {}
    for number, op in enumerate(operators):
        numbers[op["schema"]] = number
        name = op["name"].removesuffix(f".{op['overload']}") if op["overload"] else op["name"]
        slots.append(f"{{{quoted(name)}, {quoted(op['overload'])}, &opgen::boxing<void()>}}")
        tags = quoted(",".join(op["tags"]))
        rows.append(f"{{&slots[{number}], {quoted(op['schema'])}, {tags}}}")
    lines = ["#include <opgen/boxing.h>", "#include <opgen/register.h>", "#include <iterator>"]
    lines += ["namespace {", "void kernel() {}", "opgen::OperatorSlot slots[] = {"]
    lines += [f"{slot}," for slot in slots]
    lines += ["};", "const opgen::SchemaRow schemas[] = {", *(f"{row}," for row in rows), "};"]
    lines.append('const opgen::SchemaTable table("aten", "aten", schemas, std::size(schemas));')
    by_key: dict[str, list[int]] = defaultdict(list)
    for one in registrations if kernels else ():
        if one["key"] in KEYS:
            by_key[one["key"]].append(numbers[one["schema"]])
    for key, held in by_key.items():
        cells = (f"{{&slots[{n}], reinterpret_cast<void*>(&kernel), false}}," for n in held)
        lines += [f"const opgen::KernelRow rows_{key}[] = {{", *cells, "};"]
        lines.append(
            f'const opgen::KernelTable kernels_{key}("aten", opgen::DispatchKey::{key}, '
            f"rows_{key}, std::size(rows_{key}));"
        )
    return "\n".join([*lines, "}", ""])


def compile_program(folder: Path, runtime: Path, arguments: Sequence[str], text: str) -> None:
    path = folder / "one.cpp"
    path.write_text(text)
    command = ["g++", *FLAGS, f"-I{HERE.parent}/runtime/include", *arguments, str(path)]
    link = [f"-L{runtime}", "-lopgen_core", f"-Wl,-rpath,{runtime}"]
    run([*command, *link])


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    runtime = Path(sys.argv[1]).resolve()
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    operators, registrations = dump(), dump("--stage", "registrations")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = folder / "start"
        compile_program(folder, runtime, ["-o", str(program)], MAIN)
        libraries: dict[str, Path] = {}
        for what, kernels in (("schemas", False), ("schemas and kernels", True)):
            libraries[what] = folder / f"lib{len(libraries)}.so"
            text = source(operators, registrations, kernels)
            compile_program(folder, runtime, ["-shared", "-o", str(libraries[what])], text)
        print("| registered | operators | ms |\n|---|---:|---:|")
        for what, library in libraries.items():
            measured: list[float] = []
            defined = "0"
            for _ in range(runs):
                milliseconds, defined = run([program, library]).split()
                measured.append(float(milliseconds))
            spread = f"{min(measured):.2f}-{max(measured):.2f}"
            print(f"| {what} | {defined} | {statistics.median(measured):.2f} ({spread}) |")


if __name__ == "__main__":
    main()
