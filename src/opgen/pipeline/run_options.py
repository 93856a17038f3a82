"""Print the options of a run as a command line has them, and record in a folder's manifest those that it was made with."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST, read_manifest
from opgen.pipeline.inputs import Inputs, folders_with_headers
from opgen.targets import TARGETS

# An option with its value, if it has one: ("--shards", "4").
Option: TypeAlias = tuple[str, ...]


def options_of(inputs: Inputs) -> tuple[Option, ...]:
    """Return every option of a run that is not the default, in the order of `opgen generate --help`."""
    rows: tuple[tuple[str, object], ...] = (
        ("--target", inputs.target if inputs.target != "runtime" else None),
        ("--torch", inputs.torch),
        ("--tags", inputs.tags),
        *(("--derivatives", path) for path in inputs.derivatives),
        *(("--include", folder) for folder in inputs.include),
        ("--backends", ",".join(inputs.backends) or None),
        ("--ignore-keys", ",".join(inputs.ignore_keys) or None),
        ("--extends", inputs.extends),
        *(("--select", path) for path in inputs.select),
        ("--backend-yaml", inputs.backend_yaml),
        ("--impl-path", inputs.impl_path),
        ("--strict-torchgen", inputs.strict_torchgen),
        ("--namespace", inputs.namespace),
        ("--name", inputs.name),
        ("--shards", inputs.shards if inputs.shards != 1 else None),
        ("--python", inputs.python),
    )
    return tuple(
        (name,) if value is True else (name, str(value))
        for name, value in rows
        if value is not None and value is not False
    )


def options_to_type(inputs: Inputs) -> tuple[Option, ...]:
    """Return the options of a run for a command line, where the project's settings replace defaults."""
    options = options_of(inputs)
    if inputs.project is None:
        return options
    target = () if inputs.target != "runtime" else (("--target", inputs.target),)
    return (*target, *options, *(() if inputs.python else (("--no-python",),)))


def command_words(*words: str | Path, options: Iterable[Option] = ()) -> str:
    """Return a command that a shell reads as these words and options."""
    return shlex.join([*map(str, words), *(word for option in options for word in option)])


def recorded_options(inputs: Inputs, extends: str | None) -> dict[str, Any]:
    """Return the options of a run as the manifest records them, except those that its other values contain.

    Defaults are left out. A file is recorded by its name, because its folder differs from machine to machine, and
    `--extends` by the name of the extended library.
    """
    recorded: dict[str, Any] = {
        "backends": list(inputs.backends),
        "backend_yaml": inputs.backend_yaml and inputs.backend_yaml.name,
        "derivatives": [path.name for path in inputs.derivatives],
        "extends": extends if inputs.extends is not None else None,
        "ignore_keys": list(inputs.ignore_keys),
        # Other folders have no effect on the tree.
        "include": [folder.resolve().name for folder in folders_with_headers(inputs)],
        "python": inputs.python,
        "select": [path.name for path in inputs.select],
        "shards": inputs.shards if inputs.shards != 1 else None,
        "strict_torchgen": inputs.strict_torchgen,
        "torch": inputs.torch,
    }
    found = {name: value for name, value in recorded.items() if value}
    return {"options": found} if found else {}


def recorded_target(folder: Path) -> str | None:
    """Return the target for which a folder was generated, from its manifest; None if that names none of ours."""
    found = read_manifest(folder, Diagnostics())
    target = None if found is None else found.header.get("target")
    return target if isinstance(target, str) and target in TARGETS else None


def inputs_recorded(
    header: Mapping[str, Any], own: Mapping[str, Any], inputs: Inputs
) -> Inputs | None:
    """Return `inputs` with the options of the run that left a manifest with `header`.

    `own` is the header of a tree of `inputs`. A file is the one in `inputs` with the recorded name, if there is one.
    Return None if the options are the same, or if the manifest does not record them.
    """
    names = ("options", "target", "name")
    was, now = ([h.get(name, {}) for name in names] for h in (header, own))
    options, target, name = was
    if was == now or not isinstance(options, dict) or not _are_words(target, name):
        return None
    files = (options.get("extends"), options.get("backend_yaml"), options.get("torch"))
    keys = ("backends", "ignore_keys", "select", "derivatives", "include")
    lists = [options.get(key, []) for key in keys]
    if not all(isinstance(found, list) and _are_words(*found) for found in lists):
        return None
    if not _are_words(*(file for file in files if file is not None)):
        return None
    extends, backend_yaml, torch = files
    if extends == own.get("options", {}).get("extends"):
        manifest = inputs.extends
    else:
        manifest = None if extends is None else Path(extends, MANIFEST)
    shards = options.get("shards", 1)
    one = () if inputs.backend_yaml is None else (inputs.backend_yaml,)
    given = (*inputs.select, *inputs.derivatives, *one)
    by_name = {path.name: path for path in given}
    folders = {path.resolve().name: path for path in inputs.include}
    backends, ignore_keys, select, derivatives, include = lists
    return replace(
        inputs,
        target=target,
        name=inputs.name if name == own["name"] else name,
        backends=tuple(backends),
        ignore_keys=tuple(ignore_keys),
        extends=manifest,
        select=tuple(by_name.get(file, Path(file)) for file in select),
        derivatives=tuple(by_name.get(file, Path(file)) for file in derivatives),
        include=tuple(folders.get(name, Path(name)) for name in include),
        backend_yaml=(
            None if backend_yaml is None else by_name.get(backend_yaml, Path(backend_yaml))
        ),
        strict_torchgen=bool(options.get("strict_torchgen", False)),
        shards=shards if isinstance(shards, int) else 1,
        python=bool(options.get("python", False)),
        torch=torch,
    )


def _are_words(*values: object) -> bool:
    return all(isinstance(value, str) for value in values)


def describe_difference(was: Inputs, now: Inputs) -> str:
    """Describe how the options of one run differ from those of another, as in "with --python and without --shards 4".

    For an option with two values, only that of the first run is named.
    """
    before, after = options_of(was), options_of(now)
    more = [option for option in before if option not in after]
    fewer = [option for option in after if option[0] not in {name for name, *_ in before}]
    rows = (("with", more), ("without", fewer))
    return " and ".join(
        f"{word} {' '.join(shlex.join(option) for option in options)}"
        for word, options in rows
        if options
    )
