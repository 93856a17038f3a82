"""What is reported for bad files, word for word.

A case is `<code>_<what>.yaml` and beside it a `.txt` with the exact text. How it is read, the end of its name says:

`.tags.yaml`            a tags.yaml
`.torch.yaml`           for that target
`.refused.torch.yaml`   good for that target, but no files are made of it
`.beside.torch.yaml`    for that target, with a backend's file
`.strict.yaml`          under --strict-torchgen
`.bare.yaml`            without --namespace aten, by which all others are read
`.python.yaml`          for Python bindings, too
`.lint.yaml`            looked at by the lints, too
`.backend.yaml`, `.torch.backend.yaml`, `.selective.yaml`   beside fixtures/

`OPGEN_UPDATE_GOLDEN=1 pytest tests/errors`, run twice, makes cases that are missing and writes the texts anew; review
the difference.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

import pytest

from opgen.cpp import backend_check, check
from opgen.diagnostics import Code, Diagnostics, Source, collect_codes, render_human
from opgen.lints import CODES as LINT_CODES
from opgen.lints import lint, lint_allows, silence
from opgen.model.registry import Registry
from opgen.parse import (
    CODES,
    builtin_tags,
    codes_library,
    codes_schema,
    codes_yaml,
    decode_source,
    parse_backend,
    parse_entries,
    parse_native_functions,
    parse_selective,
    parse_tags,
    read_allows,
)
from opgen.python.check import check_python
from opgen.python.codes import CODES as PYTHON_CODES
from opgen.python.signatures import Spellings
from opgen.resolve import CODES as RESOLVE_CODES
from opgen.resolve import codes_groups, resolve
from opgen.resolve.backend import resolve_backend
from opgen.resolve.selection import select
from opgen.targets import TARGETS, functionalization, refusals, unsupported
from opgen.targets.base import Target

HERE = Path(__file__).parent
FIXTURES = HERE / "fixtures"
CASES = sorted(HERE.glob("*.yaml"))
REFUSALS = (refusals.E0753, refusals.E0754, refusals.E0755, refusals.W0757)
ALL_CODES = collect_codes(
    CODES,
    RESOLVE_CODES,
    backend_check.CODES,
    check.CODES,
    functionalization.CODES,
    REFUSALS,
    (refusals.E0756, unsupported.E0818, unsupported.E0819),
    PYTHON_CODES,
    LINT_CODES,
)
UPDATE = os.environ.get("OPGEN_UPDATE_GOLDEN") == "1"


def report(name: str, content: bytes) -> Diagnostics:
    """What the stages say about a file, one after the other until one finds errors."""
    diagnostics = Diagnostics()
    source = decode_source(name, content, diagnostics)
    if name.endswith("tags.yaml"):
        parse_tags(source, diagnostics)
        return diagnostics
    if name.endswith("backend.yaml"):
        torch = name.endswith(".torch.backend.yaml")
        report_backend(source, TARGETS["torch" if torch else "runtime"], diagnostics)
        return diagnostics
    if name.endswith("selective.yaml"):
        select(fixture_operators(), parse_selective(source, diagnostics), diagnostics)
        return diagnostics
    refused = name.endswith(".refused.torch.yaml")
    own_tags = Source(
        "tags.yaml", "- tag: mine\n  desc: of this library\n- tag: out_variant\n  desc: PyTorch's\n"
    )
    tags = parse_tags(own_tags, diagnostics) if refused else builtin_tags()
    strict = name.endswith(".strict.yaml")
    namespace = None if name.endswith(".bare.yaml") else "aten"
    functions = parse_entries(
        [source],
        tags,
        (),
        diagnostics,
        strict_torchgen=strict,
        namespace=namespace,
        no_outless="in torchgen's language" if strict else None,
    ).functions
    if diagnostics.has_errors:
        return diagnostics
    registry = resolve(functions, diagnostics, tags.names)
    if not diagnostics.has_errors:
        target = TARGETS["torch" if name.endswith(".torch.yaml") else "runtime"]
        check.check_signatures(registry, target.spelling, target.conversions, diagnostics)
        if target.functionalizes:
            functionalization.report_unfunctionalizable(registry, diagnostics)
        if refused:
            refusals.report_refused(registry, target, diagnostics)
        if name.endswith(".beside.torch.yaml"):
            refusals.report_not_installed(registry, target, diagnostics)
        if name.endswith("python.yaml"):
            spellings = Spellings(target.spelling, target.python)
            check_python(registry.functions, spellings, diagnostics)
    if not diagnostics.has_errors and ".lint." in name:
        lint(registry, target.tensor_keys, diagnostics, traced=target.functionalizes)
        allows = read_allows(source)
        lint_allows(allows, silence(allows, diagnostics), ALL_CODES.keys(), diagnostics)
    return diagnostics


def _suffix(code: Code) -> str:
    """What the name of a file with an example of `code` ends in."""
    if code in LINT_CODES:
        return ".lint.yaml" if code.target is None else f".lint.{code.target}.yaml"
    if code in REFUSALS:
        return ".refused.torch.yaml"
    if code is refusals.E0756:
        return ".beside.torch.yaml"
    if code is codes_schema.E0328:
        return ".bare.yaml"
    if code in (codes_library.E0250, codes_groups.E0512, codes_yaml.E0114):
        return ".strict.yaml"
    if code.file != "native_functions.yaml":
        return f".{code.file}" if code.target is None else f".{code.target}.{code.file}"
    return ".yaml" if code.target is None else f".{code.target}.yaml"


def report_backend(source: Source, target: Target, diagnostics: Diagnostics) -> None:
    file = parse_backend(source, diagnostics)
    if file is None or diagnostics.has_errors:
        return
    backend = resolve_backend(file, fixture_operators(), diagnostics)
    if backend is None:
        return
    unsupported.report_backend(target, file, backend, diagnostics)
    spelling = target.spelling
    backend_check.check_overloads(backend, spelling, diagnostics)
    if not diagnostics.has_errors:
        kernels = Source("kernels.cpp", (FIXTURES / "kernels.cpp").read_text())
        backend_check.check_coverage(backend, kernels, spelling, diagnostics)


@functools.cache
def fixture_operators() -> Registry:
    """The operators beside which backend and selective files are read."""
    diagnostics = Diagnostics()
    source = Source("operators.yaml", (FIXTURES / "native_functions.yaml").read_text())
    functions = parse_native_functions([source], builtin_tags(), (), diagnostics)
    registry = resolve(functions, diagnostics, builtin_tags().names)
    assert not diagnostics.has_errors
    return registry


def codes_of(diagnostics: Diagnostics) -> list[str]:
    return [item.code for item in diagnostics]


@pytest.mark.parametrize("case", CASES, ids=lambda path: path.stem)
def test_text(case: Path) -> None:
    diagnostics = report(case.name, case.read_bytes())
    text = render_human(diagnostics)
    expected = case.parent / f"{case.name.removesuffix('.yaml')}.txt"
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert expected.exists(), "no expected text; OPGEN_UPDATE_GOLDEN=1 writes it"
    assert text == expected.read_text(encoding="utf-8")
    assert case.name.split("_")[0] in codes_of(diagnostics)


@pytest.mark.parametrize("code", ALL_CODES.values(), ids=str)
def test_every_code_has_a_case(code: Code) -> None:
    found = any(HERE.glob(f"{code}_*.yaml"))
    if UPDATE and not found:
        # The record's own example will do; its text is written when the tests run again.
        what = re.sub(r"[^a-z0-9]+", "_", code.title.lower()).strip("_")
        suffix = _suffix(code)
        content = code.failing.encode("utf-8", "surrogateescape")
        (HERE / f"{code}_{what}{suffix}").write_bytes(content)
    assert found, "no case; OPGEN_UPDATE_GOLDEN=1 makes one of the record's example"


@pytest.mark.parametrize("code", ALL_CODES.values(), ids=str)
def test_the_examples_of_a_record_are_true(code: Code) -> None:
    name = f"example{_suffix(code)}"
    failing = report(name, code.failing.encode("utf-8", "surrogateescape"))
    mended = report(name, code.mended.encode())
    assert codes_of(failing) == [code.code]
    assert code.code not in codes_of(mended)


@pytest.mark.parametrize("code", [c for c in ALL_CODES.values() if c.of_torchgen], ids=str)
def test_rules_of_torchgen_hold_for_aten_alone(code: Code) -> None:
    """PyTorch's runtime takes what these refuse, so an operator of another namespace may do it."""
    text = "\n".join(
        line if "::" in line else line.replace("- func: ", "- func: custom::")
        for line in code.failing.split("\n")
    )
    assert code.code not in codes_of(
        report(f"example{_suffix(code)}".replace(".strict", ""), text.encode())
    )


def test_every_text_has_its_case() -> None:
    stems = {case.name.removesuffix(".yaml") for case in CASES}
    assert {text.name.removesuffix(".txt") for text in HERE.glob("*.txt")} == stems


def test_files_reported_together_are_ordered_by_file_and_position() -> None:
    diagnostics = Diagnostics()
    tags = builtin_tags()
    sources = [
        decode_source(name, content, diagnostics)
        for name, content in (
            ("z.yaml", b"- func: foo(Tensr self) -> Tensor\n  tags: x\n"),
            ("a.yaml", b"- func: bar(Tensor self) -> Tensr\n"),
        )
    ]
    parse_native_functions(sources, tags, (), diagnostics)
    found = [(d.span.source.path, d.code) for d in diagnostics if d.span is not None]
    assert found == [("z.yaml", "E0307"), ("z.yaml", "E0208"), ("a.yaml", "E0307")]
