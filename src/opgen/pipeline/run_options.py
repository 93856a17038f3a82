"""Print the options of a run as a command line has them, and record in a folder's manifest those that it was made with."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from opgen.diagnostics import Diagnostics
from opgen.io.manifest import MANIFEST, read_manifest
from opgen.pipeline.inputs import OPTIONS, Form, Inputs, Options, folders_with_headers
from opgen.targets import TARGETS

# An option with its value, if it has one: ("--shards", "4").
Words: TypeAlias = tuple[str, ...]

# Options that only change what is read or checked, and those that are in the manifest under their own names.
_NOT_RECORDED = frozenset(("tags", "impl_path", "namespace", "target", "name"))


class _Recorded(Options[str, tuple[str, ...], tuple[str, ...]], frozen=True, kw_only=True):
    """The options in a manifest: files by their names, and the extended library by its own."""

    yaml: tuple[str, ...] = ()


class _Made(Struct, frozen=True):
    """What a manifest says about the run that left it."""

    target: str
    name: str
    options: _Recorded = _Recorded()


def options_of(inputs: Inputs) -> tuple[Words, ...]:
    """Return every option of a run that is not the default, in the order of `opgen generate --help`."""
    found: list[Words] = []
    for name, option in OPTIONS.items():
        value, flag = getattr(inputs, name), option.flag(name)
        if option.form is Form.paths:
            found += ((flag, str(path)) for path in value)
        elif option.form is Form.flag and value:
            found.append((flag,))
        elif value != option.default:
            found.append((flag, ",".join(value) if option.form is Form.names else str(value)))
    return tuple(found)


def options_to_type(inputs: Inputs) -> tuple[Words, ...]:
    """Return the options of a run for a command line, where the project's settings replace defaults."""
    options = options_of(inputs)
    if inputs.project is None:
        return options
    target = () if inputs.target != "runtime" else (("--target", inputs.target),)
    return (*target, *options, *(() if inputs.python else (("--no-python",),)))


def command_words(*words: str | Path, options: Iterable[Words] = ()) -> str:
    """Return a command that a shell reads as these words and options."""
    return shlex.join([*map(str, words), *(word for option in options for word in option)])


def recorded_options(inputs: Inputs, extends: str | None) -> dict[str, Any]:
    """Return the options of a run as the manifest records them, except those that its other values contain.

    Defaults are left out. A file is recorded by its name, because its folder differs from machine to machine, and
    `--extends` by the name of the extended library.
    """
    found: dict[str, object] = {}
    for name, option in OPTIONS.items():
        value = getattr(inputs, name)
        if name in _NOT_RECORDED or value == option.default:
            continue
        if name == "include":
            # Other folders have no effect on the tree.
            value = [folder.resolve().name for folder in folders_with_headers(inputs)]
        elif option.form is Form.paths:
            value = [path.name for path in value]
        elif option.form is Form.path:
            value = extends if name == "extends" else value.name
        if value:
            found[name] = list(value) if option.form is Form.names else value
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
    if all(header.get(name, {}) == own.get(name, {}) for name in names):
        return None
    try:
        was, now = convert(header, _Made), convert(own, _Made)
    except ValidationError:
        return None
    one = () if inputs.backend_yaml is None else (inputs.backend_yaml,)
    files = {path.name: path for path in (*inputs.select, *inputs.derivatives, *one)}
    folders = {path.resolve().name: path for path in inputs.include}
    found: dict[str, Any] = {
        "target": was.target,
        "name": inputs.name if was.name == now.name else was.name,
    }
    for name, option in OPTIONS.items():
        if name in _NOT_RECORDED:
            continue
        value = getattr(was.options, name)
        known = folders if name == "include" else files
        if option.form is Form.paths:
            value = tuple(known.get(word, Path(word)) for word in value)
        elif name == "extends" and value == now.options.extends:
            value = inputs.extends
        elif option.form is Form.path and value is not None:
            value = Path(value, MANIFEST) if name == "extends" else known.get(value, Path(value))
        found[name] = value
    return replace(inputs, **found)


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
