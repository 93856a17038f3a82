"""The cache of compiled parts of opgen (runtime/cmake/opgenCache.cmake), with a small library in the runtime's place:
what is used, what is compiled again, and what happens if the cache cannot be used.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.build import REPOSITORY, RUNTIME, RUNTIME_ABI, compilers, default_compiler, run, tool

HERE = Path(__file__).parent / "compiled_parts"


@dataclass
class User:
    """A user with a cache, an opgen of their own, and any number of build folders."""

    top: Path
    flags: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.part = self.top / "opgen" / "src" / "part.cpp"
        self.cache = self.top / "cache"
        self.write(1)

    def write(self, value: int) -> None:
        self.part.parent.mkdir(parents=True, exist_ok=True)
        self.part.write_text(f"int value() {{ return {value}; }}\n")

    def environment(self) -> dict[str, str]:
        return {**os.environ, "OPGEN_CACHE_DIR": str(self.cache), **self.variables}

    def configure(self, folder: str, *flags: str) -> str:
        return run(
            [
                *(tool("cmake"), "-S", HERE, "-B", self.top / folder, "-G", "Ninja"),
                f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
                f"-DCMAKE_CXX_COMPILER={default_compiler().path}",
                f"-DOPGEN_CMAKE={RUNTIME / 'cmake'}",
                f"-DPART={self.part.parent.parent}",
                *self.flags,
                *flags,
            ],
            env=self.environment(),
        )

    def build(self, folder: str) -> str:
        """Build, check that the program computes what the sources say, and return what was printed."""
        said = run([tool("cmake"), "--build", self.top / folder, "-v"], env=self.environment())
        wanted = self.part.read_text().split()[4].rstrip(";")
        assert run([self.top / folder / "program"]).strip() == wanted
        return said

    def compiles(self, folder: str, *flags: str) -> bool:
        """Make a build folder; return whether it compiles the part, or else uses a compiled one."""
        said = self.configure(folder, *flags)
        compiled = "part.cpp.o" in self.build(folder)
        assert compiled == ("is compiled" in said), said
        return compiled

    def entries(self) -> list[Path]:
        return sorted(self.cache.glob("opgen_runtime-*"))


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


@pytest.mark.slow
def test_the_second_build_folder_compiles_nothing(user: User) -> None:
    """Protects the reason for the cache, and an edit of opgen's sources: it has a key of its own."""
    assert user.compiles("first")
    assert not user.compiles("second")
    user.write(2)
    said = user.build("second")
    assert "part.cpp.o" in said
    assert len(user.entries()) == 1, "what was compiled in a folder with another history is kept"
    assert user.compiles("third")
    assert len(user.entries()) == 2
    user.write(1)
    assert not user.compiles("fourth")


@pytest.mark.parametrize(
    "damage",
    [
        "truncated",
        *(
            pytest.param(damage, marks=pytest.mark.slow)
            for damage in ("bad record", "other bytes", "no record", "empty")
        ),
    ],
)
def test_a_damaged_entry_is_never_linked_but_replaced(user: User, damage: str) -> None:
    """Protects programs from libraries that a full disk or a crash left behind."""
    assert user.compiles("first")
    (entry,) = user.entries()
    library, record = entry / f"libopgen_runtime.so.{RUNTIME_ABI}", entry / "entry.json"
    good = library.read_bytes()
    if damage == "truncated":
        library.write_bytes(good[:-100])
    elif damage == "other bytes":
        library.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    elif damage == "no record":
        record.unlink()
    elif damage == "bad record":
        record.write_text("{")
    else:
        library.write_bytes(b"")
    assert user.compiles("second")
    assert [entry] == user.entries()
    assert not user.compiles("third"), "the entry was not replaced"


@pytest.mark.slow
def test_a_damaged_copy_in_the_build_folder_is_replaced(user: User) -> None:
    assert user.compiles("first")
    assert not user.compiles("second")
    copy = user.top / "second" / "opgen-runtime" / "libopgen_runtime.so"
    good = copy.read_bytes()
    copy.write_bytes(good[:-100])
    user.configure("second")
    assert copy.read_bytes() == good
    user.build("second")


@pytest.mark.slow
def test_other_compilers_flags_and_build_types_have_other_entries(user: User) -> None:
    """Protects sanitizers, debuggers and ABIs: nothing is linked that was compiled in another way."""
    assert user.compiles("first")
    wrapper = user.top / "my-g++"
    _write_compiler(wrapper, "exec " + default_compiler().path + ' "$@"')
    different = [
        (f"-DCMAKE_CXX_COMPILER={wrapper}",),
        ("-DCMAKE_CXX_FLAGS=-fsanitize=undefined",),
        ("-DCMAKE_BUILD_TYPE=Debug",),
        ("-DCMAKE_CXX_FLAGS=-D_GLIBCXX_USE_CXX11_ABI=0",),
    ]
    for number, flags in enumerate(different):
        assert user.compiles(f"other-{number}", *flags), flags
    assert len(user.entries()) == 1 + len(different)
    # The same path, and another compiler behind it.
    _write_compiler(wrapper, "# updated\nexec " + default_compiler().path + ' "$@"')
    assert user.compiles("updated", *different[0])
    # No build type means Release.
    assert not user.compiles("release", "-DCMAKE_BUILD_TYPE=Release")
    # Debug information names the sources' folder, so another folder with the same opgen has an entry of its own.
    shutil.copytree(user.part.parent.parent, user.top / "elsewhere")
    user.part = user.top / "elsewhere" / "src" / "part.cpp"
    assert not user.compiles("elsewhere-release")
    assert user.compiles("elsewhere-debug", "-DCMAKE_BUILD_TYPE=Debug")


@pytest.mark.slow
def test_the_names_of_one_gcc_share_an_entry(user: User) -> None:
    """Protects the second minute of the first day: CMake finds c++, and scikit-build-core passes g++."""
    compiler = Path(default_compiler().path).resolve()
    if "g++" not in compiler.name or "clang" in compiler.name:
        pytest.skip("the compiler is not GCC")
    for name in ("c++", "g++"):
        (user.top / name).symlink_to(compiler)
    assert user.compiles("first", f"-DCMAKE_CXX_COMPILER={user.top / 'c++'}")
    assert not user.compiles("second", f"-DCMAKE_CXX_COMPILER={user.top / 'g++'}")


@pytest.mark.slow
def test_flags_that_read_other_files_are_not_cached(user: User) -> None:
    """Protects what a key cannot know: such a part is compiled in the build folder, and not kept."""
    header = user.top / "always.h"
    header.write_text("")
    assert user.compiles("first", f"-DCMAKE_CXX_FLAGS=-include {header}")
    assert user.compiles("second", "-DCMAKE_CXX_FLAGS=-march=native")
    assert user.entries() == []


@pytest.mark.slow
def test_builds_at_the_same_time_do_not_disturb_one_another(user: User) -> None:
    """Protects parallel CI jobs and editors: both build, and the entry is whole."""
    folders = ["one", "two", "three"]
    for folder in folders:
        user.configure(folder)
    command = [tool("cmake"), "--build"]
    running = [
        subprocess.Popen([*command, user.top / folder], env=user.environment(), stdout=-3)
        for folder in folders
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    for folder in folders:
        assert run([user.top / folder / "program"]) == "1\n"
    assert len(user.entries()) == 1
    assert not list(user.cache.glob("opgen_new-*"))
    assert not user.compiles("four")


@pytest.mark.slow
def test_a_killed_build_leaves_nothing_that_is_used(user: User) -> None:
    """Protects later builds from a build that was killed while it compiled, and from one killed while it stored the
    result."""
    slow = user.top / "slow-g++"
    words = 'case "$*" in *part.cpp*) sleep 60;; esac\nexec ' + default_compiler().path + ' "$@"'
    _write_compiler(slow, words)
    user.configure("killed", f"-DCMAKE_CXX_COMPILER={slow}")
    process = subprocess.Popen(
        [tool("cmake"), "--build", user.top / "killed"],
        env=user.environment(),
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(1)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert user.entries() == []
    half = user.cache / "opgen_new-0123456789abcdef"
    half.mkdir(parents=True)
    (half / "libopgen_runtime.so").write_bytes(b"\x7fELF")
    assert user.compiles("next")
    assert not user.compiles("after")


@pytest.fixture(params=["a file is in the way", "no permission"])
def useless(request: pytest.FixtureRequest, user: User) -> Iterator[User]:
    """A user whose cache folder cannot be written."""
    if request.param == "no permission":
        if os.getuid() == 0:
            user.cache = Path("/proc/opgen")
        else:
            user.cache.mkdir(mode=0o500)
    else:
        user.cache.write_text("")
    yield user


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_only_costs_time(useless: User) -> None:
    assert useless.compiles("first")
    assert useless.compiles("second")


def test_a_full_disk_only_costs_time(user: User) -> None:
    """Protects the build if the copy fails halfway; here, by a limit on the size of files."""
    user.configure("first")
    user.build("first")
    shutil.rmtree(user.cache)
    rules = (user.top / "first" / "build.ninja").read_text()
    line = next(line for line in rules.splitlines() if "opgenCacheKeep.cmake" in line)
    command = line[line.index(" && ") + 4 :] if " && " in line else line.partition("= ")[2]
    command = command[: command.index("opgenCacheKeep.cmake") + len("opgenCacheKeep.cmake")]
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=user.top / "first",
        env=user.environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )
    assert done.returncode == 0, done.stderr
    assert "cannot be written" in done.stdout
    assert list(user.cache.iterdir()) == []


@pytest.mark.slow
def test_the_cache_can_be_switched_off(user: User) -> None:
    user.variables["OPGEN_CACHE"] = "off"
    assert user.compiles("first")
    assert not user.cache.exists()
    del user.variables["OPGEN_CACHE"]
    assert user.compiles("second", "-DOPGEN_CACHE=OFF")
    assert not user.cache.exists()


def _write_compiler(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


@pytest.mark.slow
def test_the_command_opgen_cache_sees_what_cmake_keeps(user: User) -> None:
    """Protects the layout, which CMake writes and the command reads."""
    assert user.compiles("first")
    opgen = [sys.executable, "-m", "opgen", "cache"]
    env = {**user.environment(), "PYTHONPATH": str(REPOSITORY / "src")}
    assert run([*opgen, "path"], env=env).strip() == str(user.cache)
    said = run([*opgen, "list"], env=env)
    assert "runtime" in said and "1 entry" in said, said
    run([*opgen, "clear"], env=env)
    assert user.entries() == []
    assert user.compiles("second")


@pytest.mark.slow
def test_parts_in_a_wheel_are_for_projects_without_flags(user: User) -> None:
    """Protects ABIs and edits: other flags and other sources are compiled, and a damaged library is not linked."""
    wheel = user.top / "wheel"
    shutil.copytree(RUNTIME / "cmake", wheel / "runtime" / "cmake")
    macros = "include/opgen/core/macros.h"
    (wheel / "runtime" / macros).parent.mkdir(parents=True)
    shutil.copy(RUNTIME / macros, wheel / "runtime" / macros)
    user.flags = (f"-DOPGEN_CMAKE={wheel / 'runtime' / 'cmake'}",)
    assert user.compiles("pack", f"-DOPGEN_PACK={wheel / 'parts'}")
    (entry,) = (wheel / "parts").iterdir()
    assert not user.compiles("first")
    assert not user.compiles("warnings", "-DCMAKE_CXX_FLAGS=-Wall -Werror=shadow -std=c++20")
    for compiler in compilers():
        assert not user.compiles(compiler.name, f"-DCMAKE_CXX_COMPILER={compiler.path}")
    assert user.entries() == []
    different = [
        "CMAKE_CXX_FLAGS=-D_GLIBCXX_USE_CXX11_ABI=0",
        "CMAKE_CXX_FLAGS=-fsanitize=undefined",
    ]
    different += ["CMAKE_BUILD_TYPE=Debug", "CMAKE_CXX_FLAGS=-march=native", "OPGEN_CACHE=OFF"]
    for number, flag in enumerate(different):
        assert user.compiles(f"other-{number}", f"-D{flag}"), flag
    user.write(2)
    assert user.compiles("edited")
    user.write(1)
    library = entry / f"libopgen_runtime.so.{RUNTIME_ABI}"
    library.write_bytes(library.read_bytes()[:-100])
    assert user.compiles("damaged")


@pytest.mark.slow
def test_a_project_is_told_that_unlinked_parts_are_not_compiled(user: User) -> None:
    """Protects projects of core operators from the belief that they wait for matrix products and gradients."""
    user.top.joinpath("CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(p LANGUAGES CXX)\nfind_package(opgen)\n"
    )
    command = [tool("cmake"), "-S", user.top, "-B", user.top / "build", "-G", "Ninja"]
    command += [f"-Dopgen_DIR={RUNTIME / 'cmake'}", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    said = [line for line in run(command, env=user.environment()).splitlines() if "opgen:" in line]
    assert ["is compiled once" in line for line in said] == [True] * 3
    assert [", if a target links it," in line for line in said] == [False, True, True]
