"""Which sources Ninja compiles after an edit of a large schema file: a project with one source per operator, and
edits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from support.build import require_headers
from support.stand_in import Build

GROUP = """
- func: freshly_added(Tensor self, Tensor other) -> Tensor
  structured_delegate: freshly_added.out

- func: freshly_added_(Tensor(a!) self, Tensor other) -> Tensor(a!)
  structured_delegate: freshly_added.out

- func: freshly_added.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: freshly_added_out
"""

METHOD = """
- func: freshly_added(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: freshly_added
"""


@dataclass(frozen=True)
class Edit:
    """Replace `old`, which occurs once in the file, by `new`; an empty `old` means the end of the file."""

    what: str
    old: str
    new: str

    def of(self, text: str) -> str:
        if not self.old:
            return text + self.new
        assert text.count(self.old) == 1, f"{self.old!r} stands {text.count(self.old)} times"
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Count:
    """The sources that were compiled; generated ones are counted apart from those of authors."""

    generated: tuple[str, ...]
    written: tuple[str, ...]

    @property
    def total(self) -> int:
        return len(self.generated) + len(self.written)


@dataclass(frozen=True)
class Project:
    """A library of many operators with one kernel source for each root name, and a program that includes all
    headers.
    """

    folder: Path
    build: Build

    @property
    def yaml(self) -> Path:
        return self.folder / "native_functions.yaml"

    def count(self) -> Count:
        compiled, _ = self.build.build()
        written = [name for name in compiled if name.endswith(".kernel.cpp") or name == "main.cpp"]
        return Count(tuple(n for n in compiled if n not in written), tuple(written))

    def after(self, edit: Edit) -> Count:
        """Return which sources `edit` recompiles; then undo the edit and build again."""
        before = self.yaml.read_text()
        self.yaml.write_text(edit.of(before))
        counted = self.count()
        self.yaml.write_text(before)
        self.build.build()
        return counted


def make_project(
    folder: Path, yaml: Path, roots: Iterable[str], *, shards: int, options: str = ""
) -> Project:
    """Make and build a project with the operators of `yaml`, including a Python package.

    `options` are options of `opgen generate`.
    """
    require_headers()
    source = folder / "project"
    (source / "kernels").mkdir(parents=True)
    (source / "native_functions.yaml").write_bytes(yaml.read_bytes())
    (source / "tags.yaml").write_bytes((yaml.parent / "tags.yaml").read_bytes())
    for root in roots:
        includes = f"#include <aten/ops/{root}.h>\n#include <aten/ops/{root}_native.h>\n"
        (source / "kernels" / f"{root}.kernel.cpp").write_text(includes)
    (source / "main.cpp").write_text("#include <aten/Functions.h>\nint main() {}\n")
    (source / "CMakeLists.txt").write_text(f"""\
cmake_minimum_required(VERSION 3.24)
project(rebuilds LANGUAGES CXX)
find_package(opgen REQUIRED CONFIG)
file(GLOB kernels CONFIGURE_DEPENDS kernels/*.cpp)
opgen_add_operators(aten YAML native_functions.yaml SHARDS {shards} KERNELS ${{kernels}} PYTHON
  OPTIONS {options})
add_executable(main main.cpp)
target_link_libraries(main PRIVATE aten)
""")
    build = Build(source, folder / "built")
    build.configure(f"-DPython_EXECUTABLE={sys.executable}")
    project = Project(source, build)
    project.count()
    return project


def numbers(generated: Iterable[str]) -> dict[str, int]:
    """Return the number of sources of each kind; shards of one kind are counted together."""
    found: dict[str, int] = {}
    for name in generated:
        stem = name.removesuffix(".cpp").rstrip("0123456789").removesuffix("_")
        found[stem] = found.get(stem, 0) + 1
    return dict(sorted(found.items()))
