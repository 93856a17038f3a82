"""C++ for the tests: the runtime built once per session, and g++ and clang++ with its headers precompiled.

Everything lies in one cache folder (`$OPGEN_TEST_BUILD`, else `.pytest_cache/opgen-build`) and is made under a
lock, so that the workers of pytest-xdist build once and wait for one another. ccache is used if it is there.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
RUNTIME = REPOSITORY / "runtime"
INCLUDE = RUNTIME / "include"
# Without what a debugger reads, which takes a quarter of the time.
DEBUG = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
WARNINGS = ("-Wall", "-Wextra", "-Wshadow", "-Werror")

# All that generated sources and kernels include of the runtime.
_PRECOMPILED = ("opgen/composite.h", "opgen/kernel.h", "opgen/register.h")


def cache_folder() -> Path:
    """Where compiled things are kept between runs."""
    given = os.environ.get("OPGEN_TEST_BUILD")
    folder = Path(given) if given else REPOSITORY / ".pytest_cache" / "opgen-build"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """One process at a time in what is called `name`."""
    with (cache_folder() / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def one_torch_unit() -> contextlib.AbstractContextManager[None]:
    """As many at once as there are cores: a unit with ATen's headers takes a gigabyte."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    return locked(f"torch-{worker % jobs()}")


def tool(name: str) -> str:
    """The program `name`: beside this Python first, as pip installs it, then on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    assert found, f"{name} is not installed"
    return found


def jobs() -> int:
    """How many compilers may run at once ($OPGEN_TEST_JOBS, else the number of cores)."""
    return int(os.environ.get("OPGEN_TEST_JOBS") or os.cpu_count() or 1)


@functools.cache
def has_headers(python: str = sys.executable) -> bool:
    """Whether a package for this Python can be compiled: Debian has its headers in python3-dev."""
    lines = (
        "import os, sysconfig; print(os.path.exists(sysconfig.get_path('include') + '/Python.h'))"
    )
    return run([python, "-c", lines]).strip() == "True"


def require_headers(python: str = sys.executable) -> None:
    """Skips where no package for this Python can be compiled; fails if CI is set."""
    if not has_headers(python):
        if os.environ.get("CI"):
            pytest.fail(f"{python} has no Python.h")
        pytest.skip(f"{python} has no Python.h (python3-dev): no package for it can be compiled")


def run(command: Sequence[str | Path], **options: object) -> str:
    """Run a command that must succeed; its output, or an assertion that shows it."""
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
    """ccache in front of the compiler, if it is installed."""
    found = shutil.which("ccache")
    return (found,) if found else ()


def environment() -> dict[str, str]:
    """The environment for compilers: ccache may use precompiled headers. Options of these tests are no other tests'."""
    sloppiness = "pch_defines,time_macros,include_file_mtime,include_file_ctime"
    others = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return {**others, "CCACHE_SLOPPINESS": sloppiness, "LC_ALL": "C"}


def cmake_build(source: Path, folder: Path, *definitions: str, target: str | None = None) -> None:
    """Compile a CMake project with Ninja; configured anew if the tools or definitions are others."""
    command = [tool("cmake"), "-S", str(source), "-B", str(folder), "-G", "Ninja", *definitions]
    command.append(f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}")
    if launcher():
        command.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher()[0]}")
    configured = folder / "configured-by"
    if not configured.exists() or configured.read_text() != "\n".join(command):
        run(command, env=environment())
        configured.write_text("\n".join(command))
    wanted = ["--target", target] if target else []
    run([tool("cmake"), "--build", folder, "-j", str(jobs()), *wanted], env=environment())


@functools.cache
def runtime_library() -> Path:
    """The shared library of the runtime, as `opgen build` compiles it; brought up to date."""
    folder = cache_folder() / "runtime"
    with locked("runtime"):
        cmake_build(RUNTIME, folder, "-DCMAKE_BUILD_TYPE=Release", "-DOPGEN_BUILD_TESTS=OFF")
    return folder / "libopgen_runtime.so"


def project_definitions() -> tuple[str, ...]:
    """For cmake_build of a user's project: this opgen, and the runtime that the tests have built."""
    return (
        f"-Dopgen_DIR={RUNTIME / 'cmake'}",
        f"-DOPGEN_EXECUTABLE={tool('opgen')}",
        f"-DCMAKE_PROJECT_INCLUDE={Path(__file__).parent / 'built_runtime.cmake'}",
        f"-DRUNTIME_LIBRARY={runtime_library()}",
        f"-DRUNTIME_INCLUDE={INCLUDE}",
    )


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler with the runtime's headers on its path."""

    name: str
    path: str

    @functools.cached_property
    def precompiled(self) -> tuple[str, ...]:
        """The arguments that put the runtime's headers, precompiled, in front of a source."""
        folder = cache_folder() / f"precompiled-{self.name}"
        header, stamp = folder / "opgen_all.h", folder / "stamp"
        suffix = "pch" if "clang" in self.name else "gch"
        with locked(folder.name):
            wanted = _digest([*sorted(INCLUDE.rglob("*.h"))], self.flags())
            if not stamp.exists() or stamp.read_text() != wanted:
                folder.mkdir(exist_ok=True)
                header.write_text("".join(f"#include <{name}>\n" for name in _PRECOMPILED))
                output = folder / f"opgen_all.h.{suffix}"
                # Headers are compared by content, above: after a change of branch and back all are younger.
                timeless = ("-Xclang", "-fno-pch-timestamp") if "clang" in self.name else ()
                run([self.path, *self.flags(), *timeless, "-x", "c++-header", header, "-o", output])
                stamp.write_text(wanted)
        # g++ forgets the diagnostic pragmas of a precompiled header, and with them this exception.
        forgotten = () if "clang" in self.name else ("-Wno-init-list-lifetime",)
        return (*forgotten, "-include", str(header))

    def flags(self) -> tuple[str, ...]:
        return ("-std=c++20", "-O0", "-fPIC", *WARNINGS, f"-I{INCLUDE}")

    def check(
        self, include: Iterable[Path], *arguments: str | Path, precompiled: bool = True
    ) -> str:
        """Parse without generating code; what the compiler says, which is nothing if all is well."""
        first = self.precompiled if precompiled else ()
        found = [f"-I{folder}" for folder in include]
        command = [self.path, *self.flags(), *found, *first, "-fsyntax-only", *map(str, arguments)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment()
        )
        assert done.returncode == 0 or done.stderr, f"{command} failed without a word"
        return done.stderr

    def check_headers(
        self, include: Sequence[Path], *headers: str, precompiled: bool = True
    ) -> str:
        """As `check`, for a source that includes `headers` and nothing else."""
        included = [part for header in headers for part in ("-include", header)]
        return self.check(include, *included, "-x", "c++", "/dev/null", precompiled=precompiled)

    def compile(self, source: Path, output: Path, include: Iterable[Path]) -> str:
        """Compile one source; what the compiler says."""
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
    """g++ and clang++, those that are installed; at least one must be."""
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
    # A library of kernels is used by what it registers, not by its symbols.
    command = [default_compiler().path, "-o", program, *objects, "-Wl,--no-as-needed"]
    run([*command, *_linked(libraries)])
    return program


def run_program(program: Path, variables: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    done = subprocess.run(
        [str(program)],
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
    for number, source in enumerate(sources):
        output = folder / f"{number}-{source.stem}.o"
        said = default_compiler().compile(source, output, include)
        assert not said, f"{source}\n{said}"
        objects.append(output)
    return objects


def _linked(libraries: Sequence[Path]) -> list[str]:
    every = (*libraries, runtime_library())
    return [*map(str, every), *(f"-Wl,-rpath,{library.parent}" for library in every)]


def _digest(files: Iterable[Path], flags: Sequence[str]) -> str:
    total = hashlib.sha256(" ".join(flags).encode())
    for file in files:
        total.update(str(file).encode())
        total.update(file.read_bytes())
    return total.hexdigest()
