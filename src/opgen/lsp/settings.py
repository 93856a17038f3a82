"""What a client says about a workspace (initialization options, configuration) into Inputs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opgen.dataclasses import dataclass
from opgen.pipeline import Inputs
from opgen.targets import TARGETS

_DELAY = 0.3


@dataclass(frozen=True, slots=True)
class Settings:
    """As the client's section `opgen`; `docs/editors.md` says what each is for.

    `yaml` are the files that are read together; a schema file that is none of them is read alone.
    Paths are relative to the workspace folder. `delay` is in seconds.
    """

    yaml: tuple[str, ...] = ()
    tags: str | None = None
    target: str = "runtime"
    extends: str | None = None
    backends: tuple[str, ...] = ()
    ignore_keys: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    backend_yaml: str | None = None
    strict_torchgen: bool = False
    namespace: str | None = None
    kernels: tuple[str, ...] = ()
    delay: float = _DELAY

    @property
    def bare_namespace(self) -> str:
        """That of operators without one, in files that do not say it."""
        return "aten" if self.strict_torchgen else self.namespace or "aten"

    def inputs(self, document: Path, root: Path | None, overlay: Mapping[Path, bytes]) -> Inputs:
        """How the schema file `document` is to be read."""
        together = tuple(_absolute(root, name) for name in self.yaml)
        return Inputs(
            yaml=together if document in together else (document,),
            tags=_optional(root, self.tags),
            target=self.target,
            backends=self.backends,
            ignore_keys=self.ignore_keys,
            extends=_optional(root, self.extends),
            select=tuple(_absolute(root, name) for name in self.select),
            backend_yaml=_optional(root, self.backend_yaml),
            strict_torchgen=self.strict_torchgen,
            namespace=self.namespace,
            overlay=overlay,
        )


def read_settings(given: object) -> Settings:
    """Settings from JSON. What is not of the right type is as if it were not there."""
    if not isinstance(given, Mapping):
        return Settings()
    own = given.get("opgen", given)
    if not isinstance(own, Mapping):
        return Settings()
    target = _text(own, "target")
    delay = own.get("delay")
    return Settings(
        yaml=_texts(own, "yaml"),
        tags=_text(own, "tags"),
        target=target if target is not None and target in TARGETS else "runtime",
        extends=_text(own, "extends"),
        backends=_texts(own, "backends"),
        ignore_keys=_texts(own, "ignoreKeys"),
        select=_texts(own, "select"),
        backend_yaml=_text(own, "backendYaml"),
        strict_torchgen=own.get("strictTorchgen") is True,
        namespace=_text(own, "namespace"),
        kernels=_texts(own, "kernels"),
        delay=min(max(delay, 0), 10_000) / 1000 if isinstance(delay, (int, float)) else _DELAY,
    )


def _text(given: Mapping[Any, Any], name: str) -> str | None:
    value = given.get(name)
    return value if isinstance(value, str) and value and "\0" not in value else None


def _texts(given: Mapping[Any, Any], name: str) -> tuple[str, ...]:
    value = given.get(name)
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(item for item in value if isinstance(item, str) and item and "\0" not in item)


def _absolute(root: Path | None, name: str) -> Path:
    return Path(name) if root is None else root / name


def _optional(root: Path | None, name: str | None) -> Path | None:
    return None if name is None else _absolute(root, name)
