"""The Python package that a target's libraries are compiled against, and whether it is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re

from msgspec import Struct

from opgen.diagnostics import Diagnostics

Release = tuple[int, int]


class RequiredPackage(Struct, frozen=True):
    """A Python package that libraries are compiled against: release `oldest` or newer, tested up to `newest`."""

    package: str
    oldest: Release
    newest: Release

    @property
    def releases(self) -> tuple[str, ...]:
        """`2.9`, `2.10`, ...: from the oldest to the newest. Both have the same major number."""
        major, first = self.oldest
        return tuple(f"{major}.{minor}" for minor in range(first, self.newest[1] + 1))


def report_required_package(
    required: RequiredPackage, python: str, diagnostics: Diagnostics
) -> None:
    """Report whether `required` is missing for this Python, whose path is `python`, or is of another release.

    A package without a release number is not checked: its own build files may do so.
    """
    wanted = dotted(required.oldest)
    hint = f"{python} -m pip install '{required.package}>={wanted}'"
    if importlib.util.find_spec(required.package) is None:
        message = f"{required.package} is not installed for {python}"
        diagnostics.error("E0916", message, None, hint=hint)
        return
    version, release = _installed(required.package)
    if release is None:
        return
    if release < required.oldest:
        message = f"{required.package} {version} is too old: opgen needs {wanted} or newer"
        diagnostics.error("E0916", message, None, hint=hint)
    elif release > required.newest:
        newest = dotted(required.newest)
        message = f"{required.package} {version} is newer than {newest}, the newest release that opgen was tested with"
        diagnostics.warning("W0917", message, None)


def _installed(package: str) -> tuple[str, Release | None]:
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "", None
    found = re.match(r"(\d+)\.(\d+)", version)
    return version, None if found is None else (int(found[1]), int(found[2]))


def dotted(release: Release) -> str:
    """Return `2.10` for (2, 10)."""
    return ".".join(map(str, release))
