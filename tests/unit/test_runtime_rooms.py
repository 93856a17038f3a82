"""The runtime's folders, in the order in which docs/contributing/architecture.md reads them: headers include only headers
of folders before their own.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.build import REPOSITORY, tool

_RUNTIME = REPOSITORY / "runtime"
_CORE = ("core", "device", "tensor", "dispatch", "structured", "iterator")
_ROOMS = (*_CORE, "registration", "cpu", "kernels", "schema", "autograd", "transforms")
_INCLUDE = re.compile(r'#include "(?:opgen/)?(?:(\w+)/)?(\w+)\.h"')
# Sources may use a later folder where a function of an early one is best written with it.
_LATER = {
    ("core/pool.cpp", "tensor"),  # the end of a thread frees its small tensors
    ("device/device_guard.cpp", "tensor"),  # record_stream takes a storage
    ("structured/output_sinks.cpp", "iterator"),  # an iterator keeps the outputs that are made
}
# Both targets have headers of these names, so they are included by them.
_ENTRANCES = {"kernel_macros", "error", "tensor_functions"}


def _included(root: Path) -> Iterator[tuple[Path, str, str]]:
    """For each include in a folder's file: the file, relative to `root`, and folder and name of the header."""
    for path in sorted([*root.rglob("*.h"), *root.rglob("*.cpp")]):
        place = path.relative_to(root)
        if len(place.parts) == 2:
            for folder, name in _INCLUDE.findall(path.read_text()):
                yield place, folder, name


def test_every_folder_has_its_place_in_the_order() -> None:
    """A new folder must be added to the order."""
    for root in (_RUNTIME / "include/opgen", _RUNTIME / "src"):
        assert {entry.name for entry in root.iterdir() if entry.is_dir()} <= {*_ROOMS}


def test_headers_include_only_earlier_folders() -> None:
    """Protects readers: a folder is understood from those before it."""
    found = list(_included(_RUNTIME / "include/opgen"))
    assert len(found) > 150
    upward = [
        (str(place), folder, name)
        for place, folder, name in found
        if folder in _ROOMS and _ROOMS.index(folder) > _ROOMS.index(place.parts[0])
    ]
    assert upward == []
    assert {name for _, folder, name in found if not folder} <= _ENTRANCES


def test_sources_use_later_folders_only_where_listed() -> None:
    """Protects the order in sources, too, and the list of exceptions from entries that nothing needs."""
    upward = {
        (place.as_posix(), folder)
        for place, folder, _ in _included(_RUNTIME / "src")
        if folder in _ROOMS and _ROOMS.index(folder) > _ROOMS.index(place.parts[0])
    }
    assert upward == _LATER


@pytest.mark.parametrize("library", ["kernels", "runtime"])
def test_kernels_link_an_upper_library_if_they_include_its_headers(library: str) -> None:
    """Protects authors from undefined symbols: `opgen_link_above_core` in opgenConfig.cmake reads only the kernels."""
    config = (_RUNTIME / "cmake/opgenConfig.cmake").read_text()
    rule = re.search(rf'set\({library} "(<opgen/.*)"\)\n', config)
    assert rule is not None
    root = _RUNTIME / "include/opgen"
    kernels = {f"cpu/{path.stem}.h" for path in (_RUNTIME / "src/kernels").glob("*.cpp")}
    included = {
        path.relative_to(root).as_posix(): set(
            re.findall(r'#include "opgen/([\w/]+\.h)"', path.read_text())
        )
        for path in root.rglob("*.h")
    }
    rooms = _ROOMS[_ROOMS.index("schema") :]
    runtime = {name for name in included if name.split("/")[0] in rooms} | {"c_api.h"}
    upper = included.keys() & (kernels if library == "kernels" else runtime)
    assert len(upper) > 4
    while more := {name for name, others in included.items() if others & upper} - upper:
        upper |= more
    assert [name for name in sorted(upper) if not re.match(rule[1], f"<opgen/{name}>")] == []


# Sources of authors, and what each links above opgen::core.
_SOURCES = {
    "plain": ("#include <opgen/kernel.h>\n#include <vector>\n #include <lib/ops/f_native.h>", []),
    "spaces": ("//\n\t# \tinclude\t<opgen/cpu/gemm.h>", ["kernels"]),
    "spaced_call": ("cpu_sum <float>(iter);", ["kernels"]),
    "using": ("using opgen::cpu_sum;", ["kernels"]),
    "other_sum": ("cpu_sum_of<float, float>(iter, f);", ["kernels"]),
    "gradients": ("#include <opgen/autograd.h>", ["runtime"]),
    "header_in_a_folder": ("#include <mine/gemm.h>", ["kernels", "runtime"]),
    "header_beside": ('#include "gemm.h"', ["kernels", "runtime"]),
    "generated_later": (None, ["kernels", "runtime"]),
}
_PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(authors LANGUAGES NONE)
foreach(library core kernels runtime)
  add_library(opgen::${library} INTERFACE IMPORTED)
endforeach()
find_package(opgen REQUIRED CONFIG)
set(CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES "${CMAKE_SOURCE_DIR}/system")
set(tree "${CMAKE_SOURCE_DIR}/tree")
foreach(name IN LISTS NAMES)
  opgen_add_library(${name} TREE "${tree}" KERNELS "${CMAKE_SOURCE_DIR}/${name}.cpp")
  opgen_add_library(${name}_cpu TREE "${tree}")
  opgen_add_cpu_kernels(${name}_cpu ${name}.cpp)
  foreach(target ${name} ${name}_cpu)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    message(STATUS "${target}: ${libraries}")
  endforeach()
endforeach()
message(FATAL_ERROR "no compiler is needed")
"""


def test_an_author_links_what_the_sources_may_call(tmp_path: Path) -> None:
    """Protects authors from undefined symbols: how a line is spelled, and what opgen cannot read; and from the compilation
    of libraries that nothing needs.
    """
    for header in ("system/vector", "tree/include/lib/ops/f_native.h"):
        (tmp_path / header).parent.mkdir(parents=True)
        (tmp_path / header).touch()
    for name, (text, _) in _SOURCES.items():
        if text is not None:
            (tmp_path / f"{name}.cpp").write_text(text)
    (tmp_path / "CMakeLists.txt").write_text(_PROJECT)
    given = [f"-Dopgen_DIR={_RUNTIME / 'cmake'}", f"-DNAMES={';'.join(_SOURCES)}"]
    given += ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"]
    command = [tool("cmake"), "-S", tmp_path, "-B", tmp_path / "build", *given]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    linked = dict(re.findall(r"^-- (\w+): opgen::core;?(.*)$", done.stdout, re.MULTILINE))
    for name, (_, above) in _SOURCES.items():
        expected = ";".join(f"opgen::{library}" for library in above)
        assert (linked[name], linked[f"{name}_cpu"]) == (expected, expected), name


def test_entrances_are_short() -> None:
    """Protects the top folder: each header there includes a header that users need, or is only for users."""
    whole = {
        *("c_api.h", "dispatch_macros.h", "kernel.h", "kernel_macros.h", "prepared.h"),
        *("symint_functions.h", "tensor_functions.h", "view_geometry.h"),
    }
    for path in sorted((_RUNTIME / "include/opgen").glob("*.h")):
        if path.name in whole:
            continue
        for line in path.read_text().splitlines():
            assert re.match(r'//|#pragma once|#include "opgen/\w+/?\w*\.h"|$', line), (path, line)


def test_the_reading_order_names_the_files_that_exist() -> None:
    """Protects the table of docs/contributing/architecture.md from files that were moved, and its reader from headers of
    the core that it does not explain.
    """
    page = (REPOSITORY / "docs/contributing/architecture.md").read_text()
    section = page.split("## Reading the runtime", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| `(\w+)` \| `([\w/.]+)` \|", section, re.MULTILINE)
    assert [room for room, _ in rows] == [*_ROOMS]
    roots = (_RUNTIME / "include/opgen", _RUNTIME / "src")
    named = re.findall(r"`([\w/]+\.(?:h|cpp))`", section)
    assert len(named) > 20
    assert [name for name in named if not any((root / name).is_file() for root in roots)] == []
    core = {str(p.relative_to(roots[0])) for room in _CORE for p in (roots[0] / room).glob("*.h")}
    assert sorted(core - {*named}) == []
