"""The bad inputs of tests/golden/errors/*.md, each with its exact report.

A case is a section: its heading is the code and what is special, the first block is a file, and the second one the
report. The title of the first block is the name of the file, which says what it is, and how opgen reads it:

`native_functions.yaml`   alone; `tags.yaml`, `backend.yaml`, `selective.yaml`, `derivatives.yaml` together with the
                          files of fixtures/; `domains.yaml` for a library with one operator; `ops.cpp` and `ops.py` by
                          `opgen import`
`target torch`            for that target, and so `target torch-stable`
`generated`               valid for the target, but no files are generated from it
`beside a backend`        with a backend's file
`no namespace`            without --namespace aten, with which all others are read
`linted`                  up to the lints; all others up to the checks
`--strict-torchgen`, `--python`, `--kernels-as-they-are`   with that option
`escaped`                 `\\xNN` is a byte, and a line that ends in `\\` goes on without a line end
"""

from __future__ import annotations

import fcntl
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from opgen import data
from opgen.diagnostics import Diagnostics
from opgen.parse import decode_source, parse_domains
from opgen.pipeline.importing import Imports, collect_entries
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.linting import Stage, inspect
from opgen.verify import domains
from support.build import REPOSITORY

FOLDER = REPOSITORY / "tests" / "golden" / "errors"
_OPERATORS, _KERNELS = Path("operators.yaml"), Path("kernels.cpp")
_DIFFERENTIABLE = Path("differentiable.yaml")
_DIFFERENTIABLE_OWN = Path("differentiable_own.yaml")
_TAGS = Path("opgen/data/tags.yaml")
_FIXTURES = {
    _OPERATORS: (FOLDER / "fixtures" / "native_functions.yaml").read_bytes(),
    _DIFFERENTIABLE: (FOLDER / "fixtures" / "differentiable.yaml").read_bytes(),
    _DIFFERENTIABLE_OWN: (FOLDER / "fixtures" / "differentiable_own.yaml").read_bytes(),
    _KERNELS: (FOLDER / "fixtures" / "kernels.cpp").read_bytes(),
    _TAGS: data.read_text("tags.yaml").encode(),
}
_OWN_TAGS = b"- tag: mine\n  desc: of this library\n- tag: out_variant\n  desc: PyTorch's\n"
_BACKEND = Path("backend.yaml")
# The operators, with their arguments, of the library that a file of domains is for.
_LOADED = {"mylib::decibels": ("self",)}

_SECTION = re.compile(
    r"^## (?P<code>[EW]\d{4}): (?P<what>.*)\n(?P<text>(?:.*\n)*?)(?=## [EW]\d|\Z)", re.M
)
_INPUT = re.compile(
    r'^```\w+ title="(?P<file>[^" ]+)(?: \((?P<words>.*)\))?"\n(?P<text>(?:.*\n)*?)```\n', re.M
)
_REPORT = re.compile(r"\n```text\n(?P<text>(?:.*\n)*?)```\n")


@dataclass(frozen=True)
class Read:
    """How opgen reads a file: as which, and with which options."""

    file: str
    words: frozenset[str] = frozenset()

    @property
    def path(self) -> Path:
        return Path(self.file)

    @property
    def is_schema(self) -> bool:
        return self.file == "native_functions.yaml"

    @property
    def target(self) -> str:
        return next(
            (t for t in ("torch", "torch-stable") if f"target {t}" in self.words), "runtime"
        )


SCHEMA = Read("native_functions.yaml")


@dataclass(frozen=True)
class Case:
    """One bad input; `report` is empty if it has not been written yet."""

    page: Path
    code: str
    what: str
    read: Read
    content: bytes
    report: str

    def __str__(self) -> str:
        return f"{self.code} {self.what}"

    def update(self, report: str) -> None:
        """Write the report into the page. Tests that run at the same time wait for each other."""
        with self.page.open("r+", encoding="utf-8", newline="") as page:
            fcntl.flock(page, fcntl.LOCK_EX)
            text = page.read()
            section = next(
                s for s in _SECTION.finditer(text) if f"{s['code']} {s['what']}" == str(self)
            )
            given = _INPUT.search(section[0])
            assert given is not None
            rest = _REPORT.sub("", section[0][given.end() :])
            new = f"{section[0][: given.end()]}\n```text\n{report}```\n{rest}"
            page.seek(0)
            page.write(text[: section.start()] + new + text[section.end() :])
            page.truncate()


@cache
def error_cases() -> tuple[Case, ...]:
    """Return the cases of all pages, by code."""
    found = [case for page in FOLDER.glob("*.md") for case in _cases(page)]
    return tuple(sorted(found, key=str))


def error_case(name: str) -> Case:
    """Return the case whose heading is `name`, without the colon."""
    return next(case for case in error_cases() if str(case) == name)


def schema_cases() -> tuple[Case, ...]:
    """Return the cases that are read as native_functions.yaml, alone or with derivatives.yaml."""
    return tuple(case for case in error_cases() if case.read.is_schema)


def yaml_cases() -> tuple[Case, ...]:
    """Return the cases that are not sources for `opgen import`."""
    return tuple(case for case in error_cases() if case.read.file.endswith(".yaml"))


def _cases(page: Path) -> list[Case]:
    text = page.read_bytes().decode()
    return [_case(page, section) for section in _SECTION.finditer(text)]


def _case(page: Path, section: re.Match[str]) -> Case:
    given, report = _INPUT.search(section["text"]), _REPORT.search(section["text"])
    assert given is not None, f"{page}: {section['what']} has no input"
    words = frozenset((given["words"] or "").split(", ")) - {""}
    content = given["text"].encode()
    if "escaped" in words:
        content = re.sub(rb"\\(?:x([0-9a-f]{2})|\n)", _unescaped, content)
    read = Read(given["file"], words - {"escaped"})
    return Case(
        page, section["code"], section["what"], read, content, report["text"] if report else ""
    )


def _unescaped(match: re.Match[bytes]) -> bytes:
    return b"" if match[1] is None else bytes.fromhex(match[1].decode())


def inputs_of(read: Read, content: bytes) -> Inputs:
    """Return the inputs of the run that reads a file with this content."""
    path, words = read.path, read.words
    overlay = {**_FIXTURES, path: content}
    given = {
        "yaml": (path,),
        "tags": _TAGS,
        "target": read.target,
        "namespace": None if "no namespace" in words else "aten",
        "strict_torchgen": "--strict-torchgen" in words,
    }
    python = "--python" in words
    match read.file:
        case "tags.yaml":
            given.update(yaml=(_OPERATORS,), tags=path)
        case "backend.yaml":
            given.update(yaml=(_OPERATORS,), backend_yaml=path, impl_path=_KERNELS)
        case "derivatives.yaml":
            both = (_DIFFERENTIABLE, _DIFFERENTIABLE_OWN)
            own = given["target"] != "runtime"
            yaml = both[:1] if given["strict_torchgen"] else both[1:] if own else both
            given.update(yaml=yaml, derivatives=(path,))
            python = python or given["target"] == "torch-stable"
        case "selective.yaml":
            given.update(yaml=(_OPERATORS,), select=(path,))
    if "beside a backend" in words:
        overlay[_BACKEND] = b"backend: XLA\ncpp_namespace: torch_xla\nsupported: []\n"
        given.update(backend_yaml=_BACKEND)
    elif "generated" in words and read.target == "torch":
        overlay[_TAGS] = _OWN_TAGS
    return Inputs(**given, overlay=overlay, python=python)


def report(read: Read, content: bytes) -> Diagnostics:
    """Return all problems that opgen reports for a file. Sources for `opgen import` are written to the current folder."""
    diagnostics = Diagnostics()
    if not read.file.endswith(".yaml"):
        read.path.write_bytes(content)
        as_they_are = "--kernels-as-they-are" in read.words
        imports = Imports((read.file,), kernels_as_they_are=as_they_are, output="ops.yaml")
        collect_entries(imports, diagnostics)
        return diagnostics
    if read.file == "domains.yaml":
        source = decode_source(read.file, content, diagnostics)
        assert source is not None
        parsed = parse_domains(source, diagnostics)
        domains.check_words(parsed, diagnostics)
        domains.check_names([parsed], _LOADED, diagnostics)
        return diagnostics
    inspect(
        inputs_of(read, content),
        diagnostics,
        unsupported=bool(read.words & {"generated", "beside a backend"}),
        until=Stage.lint if "linted" in read.words else Stage.check,
    )
    return diagnostics
