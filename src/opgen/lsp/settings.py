"""Read a client's settings of a workspace (initialization options, configuration)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.model.derivatives import DERIVATIVES_YAML
from opgen.model.profile import ATEN
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.project import find_project
from opgen.targets import TARGETS

_DELAY = 0.3


class Settings(Struct, frozen=True):
    """The client's section `opgen`. `docs/guides/ci.md` describes each setting.

    The files of `yaml` are read together; any other schema file is read alone. Paths are relative to the workspace
    folder. `delay` is in seconds.
    """

    yaml: tuple[str, ...] = ()
    tags: str | None = None
    derivatives: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    target: str | None = None
    torch: str | None = None
    extends: str | None = None
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    backend_yaml: str | None = None
    strict_torchgen: bool = False
    namespace: str | None = None
    kernels: tuple[str, ...] = ()
    delay: float = _DELAY
    # The file of the project's settings, if it has some.
    project: Path | None = None

    @property
    def default_namespace(self) -> str:
        """The namespace of operators written without one, in files whose header does not set it."""
        return ATEN if self.strict_torchgen else self.namespace or ATEN

    def together(self, root: Path | None) -> tuple[Path, ...]:
        """Return the schema files that are read together."""
        return tuple(_absolute(root, name) for name in self.yaml)

    def for_file(self, path: Path) -> Settings:
        """Return the settings for a file, with those of its project where the client has none."""
        project = find_project(path.parent, Diagnostics())
        if project is None:
            return self
        values = project.values if path.name == DERIVATIVES_YAML else project.values_for((path,))
        return replace(
            self,
            yaml=self.yaml or tuple(map(str, values.get("yaml", ()))),
            derivatives=self.derivatives or tuple(map(str, values.get("derivatives", ()))),
            include=self.include or tuple(map(str, values.get("include", ()))),
            target=self.target or values.get("target"),
            torch=self.torch or values.get("torch"),
            namespace=self.namespace or values.get("namespace"),
            project=project.file,
        )

    def inputs(self, document: Path, root: Path | None, overlay: Mapping[Path, bytes]) -> Inputs:
        """Return the inputs for the schema file `document`. `overlay` replaces the contents of files."""
        together = self.together(root)
        return Inputs(
            yaml=together if document in together else (document,),
            tags=_optional(root, self.tags),
            derivatives=tuple(_absolute(root, name) for name in self.derivatives),
            include=tuple(_absolute(root, name) for name in self.include),
            target=self.target or "runtime",
            torch=self.torch,
            project=self.project,
            backends=self.backends,
            ignore_keys=self.ignore_keys,
            extends=_optional(root, self.extends),
            select=tuple(_absolute(root, name) for name in self.select),
            backend_yaml=_optional(root, self.backend_yaml),
            strict_torchgen=self.strict_torchgen,
            namespace=self.namespace,
            overlay=overlay,
        )


def read_settings(value: object) -> Settings:
    """Read settings from JSON. Values of the wrong type are ignored."""
    if not isinstance(value, Mapping):
        return Settings()
    own = value.get("opgen", value)
    if not isinstance(own, Mapping):
        return Settings()
    target = _string(own, "target")
    delay = own.get("delay")
    return Settings(
        yaml=_strings(own, "yaml"),
        tags=_string(own, "tags"),
        derivatives=_strings(own, "derivatives"),
        include=_strings(own, "include"),
        target=target if target is not None and target in TARGETS else None,
        extends=_string(own, "extends"),
        backends=_strings(own, "backends"),
        ignore_keys=_strings(own, "ignoreKeys"),
        select=_strings(own, "select"),
        backend_yaml=_string(own, "backendYaml"),
        strict_torchgen=own.get("strictTorchgen") is True,
        namespace=_string(own, "namespace"),
        kernels=_strings(own, "kernels"),
        delay=min(max(delay, 0), 10_000) / 1000 if isinstance(delay, (int, float)) else _DELAY,
    )


def _string(section: Mapping[Any, Any], name: str) -> str | None:
    value = section.get(name)
    return value if isinstance(value, str) and value and "\0" not in value else None


def _strings(section: Mapping[Any, Any], name: str) -> tuple[str, ...]:
    value = section.get(name)
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item and "\0" not in item)


def _absolute(root: Path | None, name: str) -> Path:
    return Path(name) if root is None else root / name


def _optional(root: Path | None, name: str | None) -> Path | None:
    return None if name is None else _absolute(root, name)
