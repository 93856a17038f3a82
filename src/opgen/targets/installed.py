"""Whether the world that a target's libraries are compiled against is installed, in a release that they take."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re

from opgen.diagnostics import Diagnostics
from opgen.diagnostics.codes import Code
from opgen.targets.world import Release, World

_GOOD = "- func: custom::foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo_cpu\n"

E0916 = Code(
    "E0916",
    "PyTorch is not there, or is too old",
    "A library of target torch is compiled against the PyTorch of the Python that runs opgen, from release 2.9 on: "
    "releases before that lack functions that the generated code calls. "
    "Install it there; or set Torch_DIR in the environment to the folder of another one's TorchConfig.cmake.",
    _GOOD,
    _GOOD,
    target="torch",
)
W0917 = Code(
    "W0917",
    "PyTorch is newer than any that was tried",
    "The headers that opgen brings along are compiled with those of PyTorch 2.9 to 2.15 (docs/torch-releases.md). Of a "
    "newer release, what they use may be different: the compiler says so, or the library's tests.",
    _GOOD,
    _GOOD,
    target="torch",
)

CODES = (E0916, W0917)


def report_world(world: World, python: str, diagnostics: Diagnostics) -> None:
    """Report if `world` is not there for this Python, whose path is `python`, or is of another release.

    A package that says no release is left to its own build files.
    """
    wanted = _text(world.oldest)
    hint = f"{python} -m pip install '{world.package}>={wanted}'"
    if importlib.util.find_spec(world.package) is None:
        message = f"{world.package} is not installed for {python}"
        diagnostics.error(E0916, message, None, hint=hint)
        return
    version, release = _installed(world.package)
    if release is None:
        return
    if release < world.oldest:
        message = f"{world.package} {version} is too old: opgen needs {wanted} or newer"
        diagnostics.error(E0916, message, None, hint=hint)
    elif release > world.newest:
        newest = _text(world.newest)
        message = (
            f"{world.package} {version} is newer than {newest}, the last that opgen was tried with"
        )
        diagnostics.warning(W0917, message, None)


def _installed(package: str) -> tuple[str, Release | None]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "", None
    found = re.match(r"(\d+)\.(\d+)", version)
    return version, None if found is None else (int(found[1]), int(found[2]))


def _text(release: Release) -> str:
    return ".".join(map(str, release))
