"""The files and options of a run, as a command line has them and as the manifest of its output records them."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_type_hints

from msgspec import Struct, ValidationError, convert, field
from msgspec.structs import fields, replace

from opgen.diagnostics import Diagnostics
from opgen.io.files import MAX_BYTES
from opgen.io.manifest import MANIFEST, read_manifest
from opgen.model.derivatives import DERIVATIVES_YAML
from opgen.pipeline.author_headers import FoundHeader, find_headers, named_headers, read_header
from opgen.targets import TARGETS


def is_backend_only(inputs: Inputs) -> bool:
    """Return whether the library has only kernels of an external backend, for the operators of another library."""
    others = inputs.extends is not None or TARGETS[inputs.target].installed is not None
    return inputs.backend_yaml is not None and others


def find_installed(target: str, part: Literal["schema", "derivatives", "include"]) -> Path | None:
    """Return a file or folder of the Python package whose operators `target` extends.

    None if there is no such package, or if it is not installed for this Python.
    """
    installed = TARGETS[target].installed
    # find_spec does not import the package, which would take seconds.
    spec = None if installed is None else importlib.util.find_spec(installed.package)
    if installed is None or spec is None:
        return None
    name = getattr(installed, part)
    paths = (Path(folder, name) for folder in spec.submodule_search_locations or ())
    return next((path for path in paths if path.exists()), None)


def installed_include(target: str) -> Path | None:
    """Return the folder of the headers of that package; None if it is not installed for this Python."""
    return find_installed(target, "include")


# The largest number of files that large sources are split into.
MAX_SHARDS = 64

# Where `opgen new` puts kernels, and the headers of formulas with them.
KERNELS_FOLDER = "kernels"

# Contents that are read instead of those of files: unsaved documents, and edits that are not written yet.
Overlay: TypeAlias = Mapping[Path, bytes]


_Path = TypeVar("_Path")
_Paths = TypeVar("_Paths")
_Names = TypeVar("_Names")
# Of each type of several values.
_NONE: Any = ()


class Form(Enum):
    """The form of an option's value."""

    word = auto()
    number = auto()
    flag = auto()
    path = auto()
    paths = auto()
    names = auto()


class Option(Struct, frozen=True):
    """The form of an option's value, and its default."""

    form: Form
    default: Any

    @staticmethod
    def flag(name: str) -> str:
        return f"--{name.replace('_', '-')}"


class _Schemas(Struct, Generic[_Paths], frozen=True):
    # The files that define the operators.
    yaml: _Paths


class Options(_Schemas[_Paths], Generic[_Path, _Paths, _Names], frozen=True, kw_only=True):
    """The options of a run, in the order of `opgen generate --help`.

    The command line, the Python API, the manifest and the settings of a project take them from here, each with its own
    types of one path, of several paths and of several names. docs/reference/cli.md says what each of them means.
    """

    target: str = "runtime"
    torch: str | None = None
    tags: _Path | None = None
    derivatives: _Paths = _NONE
    include: _Paths = _NONE
    backends: _Names = _NONE
    ignore_keys: _Names = _NONE
    extends: _Path | None = None
    select: _Paths = _NONE
    backend_yaml: _Path | None = None
    impl_path: _Path | None = None
    strict_torchgen: bool = False
    namespace: str | None = None
    name: str | None = None
    shards: int = 1
    python: bool = False
    frameworks: _Names = _NONE


class Inputs(Options[Path, tuple[Path, ...], tuple[str, ...]], frozen=True, kw_only=True):
    """The files that a run reads, and the options that its results depend on."""

    # The file of the project's settings, if some of the values may be from there.
    project: Path | None = None
    # Contents that are read instead of these files.
    overlay: Overlay = field(default_factory=dict)


def _options() -> Iterator[tuple[str, Option]]:
    forms = {int: Form.number, bool: Form.flag, _Paths: Form.paths, _Names: Form.names}
    hints = get_type_hints(Options)
    for one in fields(Options):
        if one.name != "yaml":
            type_ = hints[one.name]
            form = Form.path if type_ == _Path | None else forms.get(type_, Form.word)
            yield one.name, Option(form, one.default)


# All options except the files that define the operators.
OPTIONS: Mapping[str, Option] = dict(_options())


def split_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return several names, or those in a string with commas, as a tuple: "CPU, CUDA" has two."""
    if not isinstance(names, str):
        return tuple(names)
    return tuple(part.strip() for part in names.split(",") if part.strip())


def input_files(inputs: Inputs) -> tuple[Path, ...]:
    """Return every file that a run with these inputs reads, except opgen's own."""
    tags = tags_path(inputs)
    given = (inputs.extends, *inputs.select, inputs.backend_yaml, inputs.impl_path, inputs.project)
    given += (*derivatives_paths(inputs), *header_paths(inputs))
    return tuple(p for p in (*inputs.yaml, tags, *given) if p is not None)


def schema_files(inputs: Inputs) -> tuple[Path, ...]:
    """Return the schema files: those of a run's files that are written for opgen."""
    given = (*inputs.yaml, tags_path(inputs), *inputs.select, inputs.backend_yaml)
    given += derivatives_paths(inputs)
    return tuple(dict.fromkeys(p for p in given if p is not None))


def tags_path(inputs: Inputs) -> Path | None:
    """Return the file of tags: the given one, or tags.yaml in the folder of the first schema file that has one."""
    if inputs.tags is not None:
        return inputs.tags
    return next((p for y in inputs.yaml if os.path.isfile(p := y.parent / "tags.yaml")), None)


def derivatives_paths(inputs: Inputs) -> tuple[Path, ...]:
    """Return the files of formulas: the given ones, or each derivatives.yaml in the folder of a schema file."""
    if inputs.derivatives:
        return inputs.derivatives
    beside = dict.fromkeys(y.parent / DERIVATIVES_YAML for y in inputs.yaml)
    return tuple(path for path in beside if path in inputs.overlay or os.path.isfile(path))


def author_headers(inputs: Inputs, names: Iterable[str]) -> tuple[FoundHeader, ...]:
    """Return the headers of these names, and those that they include.

    They are beside the files, in the folder of kernels there, or in the given folders.
    """
    beside = [path.parent for path in (*derivatives_paths(inputs), *inputs.yaml)]
    kernels = (folder / KERNELS_FOLDER for folder in beside)
    folders = dict.fromkeys((*beside, *kernels, *inputs.include))
    return find_headers(names, folders, installed_include(inputs.target), inputs.overlay)


def header_paths(inputs: Inputs) -> tuple[Path, ...]:
    """Return the headers whose functions the files of formulas call."""
    texts = (read_header(path, inputs.overlay) for path in derivatives_paths(inputs))
    names = [name for text in texts if text is not None for name in named_headers(text)]
    return tuple(header.path for header in author_headers(inputs, names)) if names else ()


def folders_with_headers(inputs: Inputs) -> tuple[Path, ...]:
    """Return those of the given folders that have a header of formulas which is not beside the files."""
    if not inputs.include:
        return ()
    beside = header_paths(replace(inputs, include=()))
    found = set(header_paths(inputs)).difference(beside)
    # The innermost folder, if one is in another.
    folders = sorted(inputs.include, key=lambda f: len(f.parts), reverse=True)
    used = {next((f for f in folders if path.is_relative_to(f)), None) for path in found}
    return tuple(f for f in inputs.include if f in used)


def with_contents(inputs: Inputs) -> Inputs:
    """Return `inputs` with the bytes of their files, each read once.

    A file that cannot be read is left out; the stage that needs it reports it.
    """
    contents = dict(inputs.overlay)
    for path in input_files(inputs):
        if path not in contents:
            with contextlib.suppress(OSError), open(path, "rb") as file:
                contents[path] = file.read(MAX_BYTES + 1)
    return replace(inputs, overlay=contents)


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
    given = (*inputs.select, *inputs.derivatives, *filter(None, (inputs.backend_yaml,)))
    known = {path.name: path for path in given}
    known |= {path.resolve().name: path for path in inputs.include}
    found: dict[str, Any] = {
        "target": was.target,
        "name": inputs.name if was.name == now.name else was.name,
    }
    for name, option in OPTIONS.items():
        if name in _NOT_RECORDED:
            continue
        value = getattr(was.options, name)
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
