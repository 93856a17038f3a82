"""The bad inputs of docs/reference/diagnostics.md and tests/golden/errors/*.md, each with its exact report.

A case is a section: its heading is the code and, in tests/golden/errors, what is special; the first block is a file, and
the next one the report. The title of the first block is the name of the file, which says what it is, and how opgen
reads it:

`native_functions.yaml`   alone; a block without a title is such a file
`tags.yaml`, `backend.yaml`, `selective.yaml`, `derivatives.yaml`   together with the files of fixtures/
`domains.yaml`            for a library with one operator
`ops.cpp`, `ops.py`       by `opgen import`
`allowed.txt`             as a list of intended changes, of a library that lost an operator
`pyproject.toml`          as the settings of a project
`two versions`            the one below `# OLD` is compared with the one below `# NEW`
`both directions`         also by programs that the newer version saves and the older one runs
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
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from opgen import data
from opgen.compat import Break, compare_operators, not_allowed, parse_allow_list
from opgen.compat.breaks import BACKWARD, BOTH, as_diagnostics
from opgen.diagnostics import (
    BLOCK,
    Code,
    Diagnostics,
    Source,
    describe,
    known_codes,
    title_of,
    unescaped,
)
from opgen.parse.files.domains import parse_domains
from opgen.parse.yaml.nodes import decode_source
from opgen.pipeline.checking import Stage, inspect
from opgen.pipeline.importing import Imports, collect_entries
from opgen.pipeline.inputs import Inputs
from opgen.pipeline.loading import read_registry
from opgen.pipeline.project import find_project
from opgen.verify import domains
from support.build import REPOSITORY
from support.pages import DOCS

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
# Generating reports these: see tests/integration/cli/test_generate.py and test_target_torch.py.
_GENERATING = {"E0906", "W1001"}
# The operator that a list of intended changes is for: it was removed.
_REMOVED = "- func: scale.out(int x) -> ()\n"
_TODAY = date(2026, 6, 15)

PAGE = DOCS / "reference" / "diagnostics.md"
_SECTION = re.compile(r"^##+ ([EW]\d{4})(?:: (.*))?\n((?:.*\n)*?)(?=##+ |\Z)", re.MULTILINE)
_REPORT = re.compile(r"\n```text\n((?:.*\n)*?)```\n")


@dataclass(frozen=True)
class Read:
    """How opgen reads a file: as which, and with which options."""

    file: str
    words: frozenset[str] = frozenset()

    @classmethod
    def of(cls, title: str) -> Read:
        """Return what the title of a block says."""
        file, _, words = title.partition(" (")
        return cls(file, frozenset(words.rstrip(")").split(", ")) - {""})

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
        return f"{self.code} {self.what}".rstrip()

    def update(self, report: str) -> None:
        """Write the report into the page. Tests that run at the same time wait for each other."""
        with self.page.open("r+", encoding="utf-8", newline="") as page:
            fcntl.flock(page, fcntl.LOCK_EX)
            text = page.read()
            found = _SECTION.finditer(text)
            section = next(s for s in found if (s[1], s[2] or "") == (self.code, self.what))
            given = BLOCK.search(text, section.start(3))
            assert given is not None
            rest = _REPORT.sub("", text[given.end() : section.end()])
            text = f"{text[: given.end()]}\n```text\n{report}```\n{rest}{text[section.end() :]}"
            page.seek(0)
            page.write(text)
            page.truncate()


@cache
def error_cases() -> tuple[Case, ...]:
    """Return the cases of all pages, by code. Those of the documentation have no name."""
    examples = [example_case(code) for code in map(describe, known_codes()) if _has_case(code)]
    found = [case for page in FOLDER.glob("*.md") for case in _cases(page)]
    return tuple(sorted([*examples, *found], key=str))


def _has_case(code: Code) -> bool:
    return code.example is not None and code.code not in _GENERATING


def example_case(code: Code) -> Case:
    """Return the example of a code that has one."""
    assert code.example is not None
    content = code.example.failing.encode("utf-8", "surrogateescape")
    return Case(PAGE, code.code, "", Read.of(code.example.read), content, code.example.report)


def error_case(name: str) -> Case:
    """Return the case whose heading is `name`, without the colon."""
    return next(case for case in error_cases() if str(case) == name)


def schema_cases() -> tuple[Case, ...]:
    """Return the cases that are read as native_functions.yaml, alone or with derivatives.yaml."""
    return tuple(case for case in error_cases() if case.read.is_schema)


def yaml_cases() -> tuple[Case, ...]:
    """Return the cases that are not sources for `opgen import`."""
    return tuple(case for case in error_cases() if case.read.file.endswith(".yaml"))


def _cases(page: Path) -> Iterator[Case]:
    for code, what, text in _SECTION.findall(page.read_bytes().decode()):
        given, *report = BLOCK.finditer(text)
        content = unescaped(given).encode("utf-8", "surrogateescape")
        yield Case(
            page, code, what, Read.of(title_of(given)), content, "".join(r[3] for r in report)
        )


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
        "frameworks": ("jax",) if "--frameworks jax" in words else (),
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
    """Return all problems that opgen reports for a file. What is not YAML is written to the current folder."""
    diagnostics = Diagnostics()
    if "two versions" in read.words:
        old, new = content.decode().removeprefix("# OLD\n").split("# NEW\n")
        wanted = BOTH if "both directions" in read.words else BACKWARD
        return as_diagnostics([b for b in _breaks(old, new) if b.directions & wanted], wanted)
    if read.file == "allowed.txt":
        allowed = parse_allow_list(Source(read.file, content.decode()), diagnostics)
        not_allowed(_breaks(_REMOVED, "[]\n"), allowed, _TODAY, diagnostics)
        return diagnostics
    if read.file == "pyproject.toml":
        read.path.write_bytes(content)
        find_project(Path(), diagnostics)
        return diagnostics
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


def _breaks(old: str, new: str) -> tuple[Break, ...]:
    """Return what breaks between two files, which must be good."""
    diagnostics = Diagnostics()
    operators = []
    for path, text in ((Path("old.yaml"), old), (Path("new.yaml"), new)):
        overlay = {**_FIXTURES, path: text.encode()}
        inputs = Inputs((path,), tags=_TAGS, namespace="aten", overlay=overlay)
        operators.append(read_registry(inputs, diagnostics).functions)
    assert not list(diagnostics)
    return compare_operators(*operators)
