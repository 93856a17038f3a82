"""Compile C++ for the tests: the runtime once per session, and sources by g++ and clang++ with precompiled
headers.

Everything lies in one cache folder (`$OPGEN_TEST_BUILD`, or `.pytest_cache/opgen-build`) and is made under a lock,
so that the workers of pytest-xdist build once and wait for one another. ccache is used if it is installed.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from opgen.targets import TARGETS

REPOSITORY = Path(__file__).resolve().parents[2]
RUNTIME = REPOSITORY / "runtime"
INCLUDE = RUNTIME / "include"
# The version in the names of the runtime's shared libraries.
RUNTIME_ABI = TARGETS["runtime"].plan.runtime_abi
# No debug information: it would take a quarter of the time.
DEBUG = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")

# Everything that generated sources and kernels include from the runtime.
_PRECOMPILED = ("opgen/composite.h", "opgen/kernel.h", "opgen/register.h")


def cache_folder() -> Path:
    """Return the folder where build results are kept between runs."""
    given = os.environ.get("OPGEN_TEST_BUILD")
    folder = Path(given) if given else REPOSITORY / ".pytest_cache" / "opgen-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock called `name`, which one process at a time can have."""
    with (cache_folder() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def one_torch_unit() -> contextlib.AbstractContextManager[None]:
    """Let only as many workers compile as there are cores: a source with ATen's headers takes a gigabyte of
    memory.
    """
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return locked(f"torch-{worker % jobs()}")


def tool(name: str) -> str:
    """Return the path of the program `name`: from the folder of this Python, where pip installs programs, or else from
    PATH.
    """
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    assert found, f"{name} is not installed"
    return found


def jobs() -> int:
    """Return how many compilers may run at once: $OPGEN_TEST_JOBS, or the number of cores."""
    return int(os.environ.get("OPGEN_TEST_JOBS") or os.cpu_count() or 1)


@functools.cache
def has_headers(python: str = sys.executable) -> bool:
    """Return whether the headers of this Python are installed (on Debian: python3-dev)."""
    lines = (
        "import os, sysconfig; print(os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    )
    return run([python, "-c", lines]).strip() == "True"


def require_headers(python: str = sys.executable) -> None:
    """Skip the test if no package for this Python can be compiled; fail it if CI is set."""
    if not has_headers(python):
        if os.environ.get("CI"):
            pytest.fail(f"{python} has no Python.h")
        pytest.skip(f"{python} has no Python.h (python3-dev): no package for it can be compiled")


def run(command: Sequence[str | Path], **options: object) -> str:
    """Run a command and return its output; if it fails, raise an AssertionError that shows the output."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return str(done.stdout)


def launcher() -> tuple[str, ...]:
    """Return the words to put before the compiler's command: ccache, if it is installed."""
    found = shutil.which("ccache")
    return (found,) if found else ()


def environment() -> dict[str, str]:
    """Return the environment for compilers: ccache may use precompiled headers, and $PYTEST_ADDOPTS is not
    passed on.
    """
    sloppiness = "pch_defines,time_macros,include_file_mtime,include_file_ctime"
    others = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    others.setdefault("OPGEN_CACHE_DIR", str(cache_folder() / "compiled-parts"))
    return {**others, "CCACHE_SLOPPINESS": sloppiness, "LC_ALL": "C"}


def cmake_build(source: Path, folder: Path, *definitions: str, target: str | None = None) -> None:
    """Compile a CMake project with Ninja; configure it again if the tools or definitions have changed.

    g++ tells a header that was precompiled from the same header by its contents, comments too, and would include one whose
    comments have changed a second time. ccache leaves comments out of its key if it is not told otherwise.
    """
    variables = {**environment(), "CCACHE_COMMENTS": "1"}
    command = [tool("cmake"), "-S", str(source), "-B", str(folder), "-G", "Ninja", *definitions]
    command.append(f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}")
    if launcher():
        command.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher()[0]}")
    configured = folder / "configured-by"
    if not configured.exists() or configured.read_text() != "\n".join(command):
        run(command, env=variables)
        configured.write_text("\n".join(command))
    wanted = ["--target", target] if target else []
    run([tool("cmake"), "--build", folder, "-j", str(jobs()), *wanted], env=variables)


@functools.cache
def _compiled_parts() -> Path:
    """Build the parts of opgen that all libraries share, or bring them up to date, and return the build folder.

    They go to the tests' own cache, where `opgen build` finds them.
    """
    folder = cache_folder() / "parts"
    definitions = [f"-Dopgen_DIR={RUNTIME / 'cmake'}", f"-DOPGEN_EXECUTABLE={tool('opgen')}"]
    definitions += ["-DCMAKE_BUILD_TYPE=Release", f"-DPython_EXECUTABLE={sys.executable}"]
    with locked("parts"):
        cmake_build(RUNTIME / "parts", folder, *definitions)
    return folder


def runtime_library() -> Path:
    """Build the runtime as a user's first build does, or bring it up to date, and return the shared library opgen::runtime."""
    return _compiled_parts() / "opgen-runtime" / f"libopgen_runtime.so.{RUNTIME_ABI}"


def core_library() -> Path:
    """The same for opgen::core."""
    return runtime_library().with_name(f"libopgen_core.so.{RUNTIME_ABI}")


def runtime_libraries() -> tuple[Path, Path, Path]:
    """The same for opgen::core, opgen::kernels and opgen::runtime."""
    kernels = runtime_library().with_name(f"libopgen_kernels.so.{RUNTIME_ABI}")
    return core_library(), kernels, runtime_library()


def python_part() -> Path:
    """Return the library that all Python modules share; it is built with the runtime. Needs Python's headers."""
    return _compiled_parts() / "opgen-python" / f"libopgen_python.so.{RUNTIME_ABI}"


def project_definitions() -> tuple[str, ...]:
    """Return the definitions for cmake_build of a user's project: this opgen, and the parts of it that the tests have
    built.
    """
    python = (
        f"-DPYTHON_PART={python_part()}",
        f"-DPYTHON_PART_INCLUDE={RUNTIME / 'python' / 'include'};{sysconfig.get_path('include')}",
    )
    return (
        f"-Dopgen_DIR={RUNTIME / 'cmake'}",
        f"-DOPGEN_EXECUTABLE={tool('opgen')}",
        f"-DCMAKE_PROJECT_INCLUDE={Path(__file__).parent / 'built_runtime.cmake'}",
        f"-DRUNTIME_LIBRARY={runtime_library()}",
        f"-DRUNTIME_INCLUDE={INCLUDE}",
        *(python if has_headers() else ()),
    )


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler with the runtime's headers on its path."""

    name: str
    path: str

    @functools.cached_property
    def precompiled(self) -> tuple[str, ...]:
        """The arguments that include the runtime's precompiled headers before a source."""
        folder = cache_folder() / f"precompiled-{self.name}"
        header, stamp = folder / "opgen_all.h", folder / "stamp"
        suffix = "pch" if "clang" in self.name else "gch"
        with locked(folder.name):
            wanted = _digest([*sorted(INCLUDE.rglob("*.h"))], self.flags())
            if not stamp.exists() or stamp.read_text() != wanted:
                folder.mkdir(exist_ok=True)
                header.write_text("".join(f"#include <{name}>\n" for name in _PRECOMPILED))
                output = folder / f"opgen_all.h.{suffix}"
                # The digest above compares contents. clang's own check of time stamps would fail
                # after switching branches.
                timeless = ("-Xclang", "-fno-pch-timestamp") if "clang" in self.name else ()
                run([self.path, *self.flags(), *timeless, "-x", "c++-header", header, "-o", output])
                stamp.write_text(wanted)
        # g++ loses the diagnostic pragmas of a precompiled header, so a warning has to be switched
        # off again.
        forgotten = () if "clang" in self.name else ("-Wno-init-list-lifetime",)
        return (*forgotten, "-include", str(header))

    def flags(self) -> tuple[str, ...]:
        return ("-std=c++20", "-O0", "-fPIC", *WARNINGS, f"-I{INCLUDE}")

    def check(
        self, include: Iterable[Path], *arguments: str | Path, precompiled: bool = True
    ) -> str:
        """Parse without generating code, and return the compiler's messages (empty if it has none)."""
        first = self.precompiled if precompiled else ()
        found = [f"-I{folder}" for folder in include]
        command = [self.path, *self.flags(), *found, *first, "-fsyntax-only", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment()
        )
        assert done.returncode == 0 or done.stderr, f"{command} failed without a message"
        return done.stderr

    def check_headers(
        self, include: Sequence[Path], *headers: str, precompiled: bool = True
    ) -> str:
        """As `check`, for a source that includes `headers` and nothing else."""
        included = [part for header in headers for part in ("-include", header)]
        return self.check(include, *included, "-x", "c++", "/dev/null", precompiled=precompiled)

    def compile(self, source: Path, output: Path, include: Iterable[Path]) -> str:
        """Compile one source and return the compiler's messages."""
        found = [f"-I{folder}" for folder in include]
        command = [*launcher(), self.path, *self.flags(), *found, *self.precompiled]
        command += ["-fpch-preprocess"] if "clang" not in self.name else []
        done = subprocess.run(
            [*command, "-c", str(source), "-o", str(output)],
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        return done.stderr


def compilers() -> tuple[Compiler, ...]:
    """Return those of g++ and clang++ that are installed; at least one must be."""
    found = tuple(Compiler(n, p) for n in ("g++", "clang++") if (p := shutil.which(n)))
    assert found, "neither g++ nor clang++ is installed"
    return found


@functools.cache
def default_compiler() -> Compiler:
    return compilers()[0]


def link_library(
    name: str, folder: Path, sources: Sequence[Path], include: Sequence[Path], *libraries: Path
) -> Path:
    """Compile `sources` into lib<name>.so in `folder`; `libraries` are linked to it."""
    objects = _compile_all(folder / f"{name}.objects", sources, include)
    library = folder / f"lib{name}.so"
    command = [default_compiler().path, "-shared", "-o", library, *objects, "-Wl,-z,defs"]
    run([*command, *_linked(libraries)])
    return library


def link_program(
    folder: Path, sources: Sequence[Path], include: Sequence[Path], *libraries: Path
) -> Path:
    """Compile `sources` into a program in `folder`; all of `libraries` are loaded with it."""
    objects = _compile_all(folder / "program.objects", sources, include)
    program = folder / "program"
    # Libraries of kernels are needed because they register kernels; the program uses none of their symbols.
    command = [default_compiler().path, "-o", program, *objects, "-Wl,--no-as-needed"]
    run([*command, *_linked(libraries)])
    return program


def run_program(
    program: Path, variables: Mapping[str, str] | None = None, *, arguments: Sequence[str] = ()
) -> tuple[int, str, str]:
    """Run a program; return its exit code, standard output and standard error."""
    done = subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **(variables or {})},
    )
    return done.returncode, done.stdout, done.stderr


def _compile_all(folder: Path, sources: Sequence[Path], include: Sequence[Path]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for number, source in enumerate(_as_one_unit(folder, sources)):
        output = folder / f"{number}-{source.stem}.o"
        said = default_compiler().compile(source, output, include)
        assert not said, f"{source}\n{said}"
        objects.append(output)
    return objects


def _as_one_unit(folder: Path, sources: Sequence[Path]) -> list[Path]:
    """Return the sources, with one that includes those of `src` in place of them, as opgen's CMake does."""
    generated = [source for source in sources if source.parent.name == "src"]
    if len(generated) < 2:
        return list(sources)
    unit = folder / "generated.cpp"
    unit.write_text("".join(f'#include "{source}"\n' for source in generated))
    return [unit, *(source for source in sources if source not in generated)]


def _linked(libraries: Sequence[Path]) -> list[str]:
    every = (*libraries, *reversed(runtime_libraries()))
    return [*map(str, every), *(f"-Wl,-rpath,{library.parent}" for library in every)]


def _digest(files: Iterable[Path], flags: Sequence[str]) -> str:
    total = hashlib.sha256(" ".join(flags).encode())
    for file in files:
        total.update(str(file).encode())
        total.update(file.read_bytes())
    return total.hexdigest()
