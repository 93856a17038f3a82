"""Shared by the tests of `opgen import`: the sources, and the options with which each set of them is imported."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.importing.entries.merge import Entry
from opgen.pipeline.importing import Imports, collect_entries

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
EXPECTED = HERE / "expected"
DEFINES = {"TORCH_EXTENSION_NAME": "_kiln"}
CPP = (
    *("abacus.cpp", "basalt", "granite", "kiln", "lumen.cpp"),
    *("mosaic.cpp", "mosaic.h", "odds", "prism", "quartz.cpp"),
)
PYTHON = ("python",)

# Registrations of the sources that are known only at run time; each is reported.
HIDDEN = frozenset({"odds::looped", "sketch::made_later"})
# Defined only in builds with other macros.
NOT_BUILT = frozenset({"odds::only_never"})
# A library in Python that ends with its `with` block.
GONE = frozenset({"tables_scoped::gone"})

# A compiler other than CUDA's compiles the kernels without their launches.
NOT_CUDA = """\
#define __global__
#define __device__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(threads)
struct dim3 {
  dim3(long) {}
};
"""
UNITS = (
    *("kiln/kernels.cpp", "kiln/bindings.cpp", "prism/prism.cpp", "prism/cpu.cpp"),
    *("prism/meta.cpp", "prism/autograd.cpp", "prism/autocast.cpp", "prism/quantized.cpp"),
    *("lumen.cpp", "mosaic.cpp", "abacus.cpp", "odds/odds.cpp", "granite/extension.cc"),
    *("quartz.cpp", "basalt/schemas.cpp", "basalt/device.cpp", "basalt/autograd_device.cpp"),
)


def write_all_sources(folder: Path, before: str = "", sources: Path = SOURCES) -> Path:
    """Write one source that includes all C++ sources after `before`: ATen's headers take most of the compile time."""
    kernels = re.sub("<<<.*?>>>", "", (sources / "granite/kernels.cu").read_text(), flags=re.DOTALL)
    (folder / "kernels_cu.inc").write_text(kernels)
    lines = [f'#include "{unit}"\n' for unit in (*UNITS, "kernels_cu.inc")]
    (folder / "all.cpp").write_text(before + NOT_CUDA + "".join(lines))
    return folder / "all.cpp"


@dataclass(frozen=True, slots=True)
class Read:
    entries: dict[str, Entry]
    diagnostics: Diagnostics


def read(*sources: str, namespaces: tuple[str, ...] = ()) -> Read:
    """Return, by name, the entries read from `sources`, which are paths under SOURCES."""
    diagnostics = Diagnostics()
    paths = tuple(os.fspath(SOURCES / source) for source in sources)
    found = collect_entries(Imports(paths, (), namespaces, DEFINES), diagnostics)
    assert found is not None, list(diagnostics)
    return Read({entry.name: entry for entry in found.entries}, diagnostics)
