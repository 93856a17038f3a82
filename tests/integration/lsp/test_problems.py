"""The server's diagnostics: the right ones, at the right places, for the current text."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from lsp_session import TAGS, Session, Start
from lsprotocol import types

from opgen.lsp.documents import Settings, read_settings

GOOD = "- func: neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg_cpu\n"
BAD = "- func: neg(Tensr self) -> Tensor\n  dispatch:\n    CPU: neg_cpu\n"


def place(problem: types.Diagnostic) -> tuple[int, int, int]:
    where = problem.range
    return where.start.line, where.start.character, where.end.character


def test_a_problem_comes_and_goes_with_the_text(session: Session) -> None:
    """Unsaved text is checked: no file of this name is on the disk."""
    uri = session.open("typing.yaml", GOOD)
    assert session.problems(uri) == []
    session.change(uri, BAD)
    (problem,) = session.problems(uri)
    assert (problem.code, problem.source, place(problem)) == ("E0307", "opgen", (0, 12, 17))
    assert problem.severity is types.DiagnosticSeverity.Error
    assert problem.message == "unknown type 'Tensr'\ndid you mean 'Tensor'?"
    session.change(uri, GOOD)
    assert session.problems(uri) == []


def test_a_file_of_another_kind_is_one_problem(session: Session) -> None:
    """Protects an editor against hundreds of marks in a file that belongs to another program."""
    entry = "- func: f{}(Tensr self) -> Tensor\n  kernels: [{{arg_meta: null, kernel_name: k}}]\n"
    uri = session.open("functions.yaml", "".join(entry.format(i) for i in range(300)))
    (problem,) = session.problems(uri)
    assert (problem.code, place(problem)) == ("E0113", (1, 29, 40))
    assert "ExecuTorch" in problem.message
    session.change(uri, "- func: f(Tensr self) -> Tensor\n")
    (problem,) = session.problems(uri)
    assert problem.code == "E0307"


def test_closing_clears(session: Session) -> None:
    """An editor shows no problems of closed documents."""
    uri = session.open("closed.yaml", BAD)
    assert session.problems(uri)
    session.close(uri)
    session.wait(lambda: not session.diagnostics[uri].diagnostics)


def test_columns_are_utf16(session: Session) -> None:
    """Characters beyond the first 65,536 take two units each in the protocol's default encoding."""
    uri = session.open("wide.yaml", "- func: f(str s='𝔘é', Tensr t) -> Tensor\n")
    problems = session.problems(uri)
    assert (0, 23, 28) in map(place, problems)


@pytest.mark.slow
def test_columns_in_the_encoding_agreed_on(start: Start) -> None:
    """A client that prefers UTF-8 gets byte offsets."""
    session = start(encodings=["utf-8"])
    assert session.capabilities.position_encoding == "utf-8"
    uri = session.open("wide.yaml", "- func: f(str s='𝔘é', Tensr t) -> Tensor\n")
    assert (0, 26, 31) in map(place, session.problems(uri))


def test_other_places_are_related(session: Session) -> None:
    """The message names the first of two definitions and its place."""
    uri = session.open("twice.yaml", GOOD + "\n" + GOOD)
    problem = next(p for p in session.problems(uri) if p.related_information)
    assert [r.location.uri for r in problem.related_information or ()] == [uri]
    assert problem.range.start.line == 4


@pytest.mark.slow
def test_problems_of_other_files_are_shown_there(start: Start) -> None:
    """An invalid tags.yaml gets the problem, saved or not, and loses it when it is fixed."""
    session = start()
    (session.root / "tags.yaml").write_text("- tag: core\n")
    uri = session.open("native_functions.yaml", GOOD)
    tags = session.uri("tags.yaml")
    session.wait(lambda: tags in session.diagnostics)
    assert session.diagnostics[tags].diagnostics[0].code
    session.open("tags.yaml", TAGS)
    session.wait(lambda: not session.diagnostics[tags].diagnostics)
    session.close(uri)


@pytest.mark.slow
def test_only_the_last_of_many_changes_counts(start: Start) -> None:
    """Texts that were replaced by further typing are not checked: thirty changes cause far fewer reports."""
    session = start({"delay": 100})
    uri = session.open("fast.yaml", GOOD)
    session.problems(uri)
    before = session.published
    for number in range(30):
        session.change(uri, GOOD if number % 2 else BAD)
    assert session.problems(uri) == []
    assert session.published - before < 5


@pytest.mark.slow
def test_files_that_belong_together(start: Start) -> None:
    """Settings name files that are read together; the delegate is in the other one."""
    session = start({"delay": 10, "yaml": ["a.yaml", "b.yaml"]})
    out = "- func: add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  structured: True\n  dispatch:\n    CPU: add_out\n"
    (session.root / "b.yaml").write_text(out)
    uri = session.open(
        "a.yaml", "- func: add(Tensor self) -> Tensor\n  structured_delegate: add.out\n"
    )
    assert session.problems(uri) == []
    assert session.definitions(uri, "structured_delegate: ad|d.out") == ["b.yaml:1:9"]
    # The other file's text in the editor counts, not the saved one.
    session.open("b.yaml", out.replace("add.out", "sub.out"))
    session.wait(lambda: bool(session.diagnostics[uri].diagnostics))


@pytest.mark.slow
def test_settings_that_the_client_is_asked_for(start: Start) -> None:
    """Clients that store settings themselves are asked for the section `opgen`, and report changes."""
    session = start(configuration={"delay": 10, "tags": "own.yaml"})
    (session.root / "own.yaml").write_text("- tag: mine\n  desc: Own.\n")
    uri = session.open("native_functions.yaml", GOOD.rstrip() + "\n  tags: mine\n")
    session.wait(lambda: uri in session.diagnostics and not session.diagnostics[uri].diagnostics)
    session.configure({"opgen": {"delay": 10}})
    session.wait(lambda: bool(session.diagnostics[uri].diagnostics))


@pytest.mark.slow
def test_strict_torchgen_is_a_setting(start: Start) -> None:
    """Entries that torchgen does not support are problems only with this setting."""
    text = "- func: foo(Tensor self) -> Tensor\n  structured: True\n  dispatch:\n    CPU: foo_cpu\n"
    lax = start({"delay": 10})
    assert lax.problems(lax.open("native_functions.yaml", text)) == []
    strict = start({"delay": 10, "strictTorchgen": True})
    found = strict.problems(strict.open("native_functions.yaml", text))
    assert [(p.code, p.range.start.line) for p in found] == [("E0241", 1)]


def test_a_text_that_no_longer_has_operators(session: Session) -> None:
    """Its old problems are removed."""
    uri = session.open("emptied.yaml", BAD)
    assert session.problems(uri)
    session.change(uri, "a: 1\n")
    assert session.problems(uri) == []


@pytest.mark.slow
def test_unusual_requests(start: Start) -> None:
    """Bytes that are not UTF-8, missing files, documents without a folder: the server keeps running."""
    session = start()
    (session.root / "tags.yaml").write_bytes(b"\xff\xfe- tag")
    for number, text in enumerate(("\0", "\ud800", "a: [", "- " * 500, "&a [*a]", "", "- func:")):
        uri = session.open(f"native_functions{number}.yaml", text)
        session.problems(uri)
    for uri in ("untitled:Untitled-1", "file:///nowhere/at%20all/x.yaml", "git:/a?b"):
        session.open_uri(uri, BAD)
        assert "E0307" in [p.code for p in session.problems(uri)]
        assert session.hover(uri, "disp|atch")
    gone = session.root / "gone.yaml"
    gone.write_text(GOOD)
    uri = session.open("gone.yaml", GOOD)
    assert session.problems(uri) == []
    gone.unlink()
    session.change(uri, BAD)
    assert "E0307" in [p.code for p in session.problems(uri)]


def test_without_pygls_it_says_what_to_install() -> None:
    """The server's library is optional; without it, the message says how to install it."""
    code = "import sys; sys.modules['pygls'] = None; from opgen.cli.main import main; main()"
    found = subprocess.run([sys.executable, "-c", code, "lsp"], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == "opgen lsp needs pygls: pip install 'pygls>=2.0'\n"


def test_settings_of_any_shape() -> None:
    """Settings from a client may have wrong types."""
    for given in (None, 3, [], {"opgen": 4}, {"target": 1, "yaml": "x", "delay": "soon"}):
        assert read_settings(json.loads(json.dumps(given))) == Settings()


LINTED = "- func: neg_(Tensor(a!) self) -> Tensor(a!)\n  dispatch:\n    CPU: neg_cpu_\n"


def test_a_lint_is_a_warning_until_it_is_allowed(session: Session) -> None:
    """The comment that silences it may be typed and removed at any time."""
    uri = session.open("lint.yaml", LINTED)
    (problem,) = session.problems(uri)
    assert (problem.code, problem.severity) == ("W1002", types.DiagnosticSeverity.Warning)
    assert place(problem) == (0, 8, 12)
    session.change(uri, f"# opgen: allow(W1002) no graph has it\n{LINTED}")
    assert session.problems(uri) == []
    session.change(uri, LINTED)
    assert [problem.code for problem in session.problems(uri)] == ["W1002"]


@pytest.mark.slow
def test_the_settings_of_a_project_hold_where_the_client_has_none(start: Start) -> None:
    """Protects an editor from "no problems" in a package for PyTorch, and shows errors in the settings."""
    session = start()
    settings = session.root / "pyproject.toml"
    settings.write_text('[tool.opgen]\nyaml = "ops.yaml"\ntarget = "torch"\n')
    entry = "- func: my::neg(Tensor self) -> Tensor\n  dispatch:\n    CPU: neg_cpu\n"
    uri = session.open("ops.yaml", entry)
    assert [problem.code for problem in session.problems(uri)] == ["W1030"]
    session.configure({"target": "runtime"})
    session.change(uri, entry + "\n")
    assert session.problems(uri) == []
    settings.write_text('[tool.opgen]\nyaml = "ops.yaml"\ntraget = "torch"\n')
    session.change(uri, entry)
    assert session.problems(uri) == []
    session.wait(lambda: session.uri("pyproject.toml") in session.diagnostics)
    (problem,) = session.diagnostics[session.uri("pyproject.toml")].diagnostics
    assert (problem.code, place(problem)) == ("E0925", (2, 0, 6))
