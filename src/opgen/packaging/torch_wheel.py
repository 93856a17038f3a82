"""Set a wheel's version and dependencies by the torch that it is built with: the provider `opgen-torch`.

    [project]
    dynamic = ["version", "dependencies"]

    [[tool.dynamic-metadata]]
    provider = "opgen-torch"
    version = "0.1.0"
    dependencies = ["numpy>=2"]   # others, if there are any

makes `mylib 0.1.0+torch2.13` with the dependencies `numpy>=2` and `torch==2.13.*`. So one index can have wheels for
several releases of torch, and pip takes the one for the torch that it installs. The interface is that of dynamic-metadata
0.3, as scikit-build-core 1.1 calls it.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_SETTINGS = frozenset({"version", "dependencies", "local"})


class TorchWheel:
    """The metadata of a package whose library is compiled against the torch of this environment."""

    def __init__(self) -> None:
        self._state = "wheel"

    def build_state(self, build_state: str) -> None:
        """Set the artifact whose metadata is requested next: `sdist`, `wheel`, `editable` and so on."""
        self._state = build_state

    def dynamic_metadata(
        self, settings: Mapping[str, Any], project: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return `version` and `dependencies`. Raises ValueError for bad settings, or if torch is not installed."""
        version, others = _read(settings)
        if self._state == "sdist":
            return {"version": version, "dependencies": [*others, "torch"]}
        release = installed_release()
        # A wheel built from an sdist must have the version in the sdist's name: pip rejects any other.
        if settings.get("local", True) and not Path("PKG-INFO").is_file():
            version = f"{version}{'.' if '+' in version else '+'}torch{release}"
        return {"version": version, "dependencies": [*others, f"torch=={release}.*"]}

    def dynamic_wheel(self, settings: Mapping[str, Any]) -> dict[str, bool]:
        """Return the fields that differ between an sdist and the wheels built from it."""
        return {"dependencies": True}


def installed_release() -> str:
    """Return the release of this environment's torch, such as `2.13`. Raises ValueError if there is none."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        message = (
            f"torch is not installed for {sys.executable}: the wheel is made for the torch of its build. "
            "pip install torch, and build with --no-build-isolation"
        )
        raise ValueError(message) from None
    return ".".join(version.partition("+")[0].split(".")[:2])


def _read(settings: Mapping[str, Any]) -> tuple[str, Sequence[str]]:
    unknown = sorted(settings.keys() - _SETTINGS)
    version, others = settings.get("version"), settings.get("dependencies", [])
    if unknown:
        raise ValueError(
            f"opgen-torch has no setting '{unknown[0]}': {', '.join(sorted(_SETTINGS))}"
        )
    if not isinstance(version, str) or not version:
        raise ValueError('opgen-torch needs the package\'s version, such as version = "0.1.0"')
    if not isinstance(others, list) or not all(isinstance(one, str) for one in others):
        raise ValueError("opgen-torch takes a list of requirements for 'dependencies'")
    if not isinstance(settings.get("local", True), bool):
        raise ValueError("opgen-torch takes true or false for 'local'")
    return version, others
