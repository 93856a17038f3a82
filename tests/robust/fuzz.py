"""Fuzz opgen with coverage guidance (atheris): every parser, all stages up to the C++ checks, and `format` and
`lint --fix`, whose second run must change nothing.

    python tests/robust/fuzz.py [SECONDS]            10 minutes without SECONDS; .ci/nightly runs it for half an hour

The first byte selects the kind of file: a schema file in most cases, or one of the files that are read with it. The
corpus begins with the cases of tests/golden/errors and tests/golden/trees. An exception ends the run, its input is
kept (crash-*), and `python tests/robust/fuzz.py crash-...` runs it again.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import atheris

from support.inputs import aten_inputs, registry_of

with atheris.instrument_imports(include=["opgen"]):
    from opgen.compat import parse_allow_list
    from opgen.diagnostics import Diagnostics
    from opgen.diagnostics.rendering import render_human, render_json
    from opgen.edits import fix_all, format_contents
    from opgen.model.selector import select
    from opgen.parse.files.backend import parse_backend
    from opgen.parse.files.native_functions import parse_tags
    from opgen.parse.files.selective import parse_selective
    from opgen.parse.yaml.nodes import decode_source
    from opgen.pipeline.checking import Stage, inspect
    from opgen.pipeline.loading import load
    from opgen.resolve.backend import resolve_backend
    from support.error_cases import yaml_cases

PATH = Path("any.yaml")
TESTS = Path(__file__).resolve().parents[1]
KINDS = {"tags.yaml": 1, "backend.yaml": 2, "selective.yaml": 3}


def operators(content: bytes, diagnostics: Diagnostics) -> None:
    inspect(aten_inputs((PATH,), overlay={PATH: content}), diagnostics, until=Stage.check)


def rewriting(content: bytes, diagnostics: Diagnostics) -> None:
    """Formatting is idempotent and changes no operator; after fixing, nothing is left to fix."""

    def check(contents: Mapping[Path, bytes]) -> tuple[Diagnostics, None]:
        found = Diagnostics()
        inspect(aten_inputs((PATH,), overlay=contents), found)
        return found, None

    made = format_contents(PATH, content)
    assert format_contents(PATH, made) == made, "formatting a second time changes the file"
    assert meaning(made) == meaning(content), "formatting changed the meaning"
    fixed = fix_all({PATH: content}, check)
    last = fixed.contents.get(PATH, content)
    assert not fix_all({PATH: last}, check).count, "a second run finds more to fix"
    for item in fixed.last[0]:
        diagnostics.add(item)


def meaning(content: bytes) -> list[tuple[str, object]]:
    """Return the operators of a file without errors, with what is registered for each."""
    registry = load(aten_inputs((PATH,), overlay={PATH: content}), Diagnostics())
    functions = registry.functions if registry is not None else ()
    return [(str(f.func), (f.dispatch, f.tags, f.variants, f.structured)) for f in functions]


REGISTRY = registry_of("- func: foo(Tensor self) -> Tensor\n  dispatch:\n    CPU: foo\n")


def answer(data: bytes) -> None:
    """Run one input; it must end in diagnostics that can be printed."""
    diagnostics = Diagnostics()
    kind, content = data[:1], data[1:]
    if kind == b"\x05":
        rewriting(content, diagnostics)
    elif kind > b"\x05":
        operators(content, diagnostics)
    else:
        source = decode_source("any", content, diagnostics)
        match kind:
            case b"\x01":
                parse_tags(source, diagnostics)
            case b"\x02":
                file = parse_backend(source, diagnostics)
                if file is not None and not diagnostics.has_errors:
                    resolve_backend(file, REGISTRY, diagnostics)
            case b"\x03":
                select(REGISTRY, parse_selective(source, diagnostics), diagnostics)
            case _:
                parse_allow_list(source, diagnostics)
    for item in diagnostics:
        if item.span is not None:
            assert 0 <= item.span.start <= item.span.end <= len(item.span.source.text)
    render_human(diagnostics)
    render_json(diagnostics)


def corpus(folder: Path) -> None:
    """Use every schema of the tests as an initial input."""
    found = [(case.read.file, case.content) for case in yaml_cases()]
    found += [(path.name, path.read_bytes()) for path in TESTS.glob("golden/trees/*/*.yaml")]
    for number, (name, content) in enumerate(found):
        kind = KINDS.get(name, 45)
        (folder / f"{number}").write_bytes(bytes((kind,)) + content)
        if kind > 5:
            (folder / f"{number}-rewritten").write_bytes(b"\x05" + content)


def main() -> None:
    if len(sys.argv) > 1 and Path(sys.argv[1]).is_file():
        answer(Path(sys.argv[1]).read_bytes())
        return
    seconds = sys.argv[1] if len(sys.argv) > 1 else "600"
    folder = Path(tempfile.mkdtemp(prefix="opgen-fuzz-"))
    corpus(folder)
    # An input that takes ten seconds or half a gigabyte counts as a finding, too.
    options = [f"-max_total_time={seconds}", "-max_len=20000", "-timeout=10", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], str(folder), *options, "-print_final_stats=1"], answer)
    # This call does not return: libFuzzer prints the number of inputs, and exits.
    atheris.Fuzz()


if __name__ == "__main__":
    main()
