"""The help of all commands, and the errors for commands and options that do not exist."""

from __future__ import annotations

import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import click
import pytest
from cli_support import GOOD, Opgen
from click.testing import CliRunner

from opgen.cli.help import Section, describe
from opgen.cli.main import COMMANDS, main
from opgen.data import documentation
from support.build import run, tool

REFERENCE = tuple(describe(name) for name in COMMANDS)

LEAKY = """\
- func: leaky::ramp(Tensor self, float slope) -> Tensor
  structured_delegate: ramp.out

- func: leaky::ramp.out(Tensor self, float slope, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: ramp_out_cpu
"""
BACKEND = "backend: XLA\ncpp_namespace: torch_xla\nsupported:\n- ramp.out\n"

# Examples that are not run here, and what runs them.
NOT_RUN = {
    "build": "tests/integration/run/test_readme.py",
    "lsp": "tests/integration/lsp",
    "completion": "test_completion.py",
    "coverage": "tests/integration/cli/coverage, with PyTorch's operators",
    "verify": "tests/integration/verify, with a library that they build",
}


def shown(*arguments: str) -> str:
    return CliRunner().invoke(main, [*arguments, "--help"]).stdout


def sections(text: str) -> list[str]:
    """Return the headings of help in order."""
    lines = text.splitlines()
    return [line[:-1] for line in lines if line.endswith(":") and not line.startswith(" ")]


@pytest.mark.parametrize("told", REFERENCE, ids=lambda told: told.name)
def test_the_help_of_each_command(told: Section) -> None:
    """Protects the order of sections: own options first, then the shared ones, an example and exit codes."""
    text = shown(told.name)
    shared = [f"Shared options: {heading}" for heading in told.shared]
    expected = ["Options", *shared, "Example", "Exit codes"]
    if told.arguments:
        expected.insert(0, "Arguments")
    if told.pages:
        expected.append("Read more")
    assert sections(text) == expected
    assert text.startswith(f"Usage: opgen {told.name} ")
    assert told.example in text
    assert [code for code, _ in told.exit_codes] in (["0", "1", "2"], ["0", "2"])
    for row in (*told.arguments, *told.every_option().values()):
        assert all(row), row


@pytest.mark.parametrize("told", REFERENCE, ids=lambda told: told.name)
def test_pages_of_help_exist(told: Section) -> None:
    """Protects the last lines of help, and an installed opgen from documentation that it lacks."""
    for page in told.pages:
        result = CliRunner().invoke(main, ["docs", page])
        assert (result.exit_code, result.stdout[:2]) == (0, "# "), page


def test_each_command_takes_yaml_as_arguments() -> None:
    """Protects the one way to name schema files: no command shows an option --yaml."""
    for told in REFERENCE:
        assert "--yaml" not in told.every_option()
        if "what is read" in told.shared:
            assert "[YAML]..." in told.usage


def test_the_list_of_commands_is_not_cut() -> None:
    """Protects the list on a terminal of 80 columns: each command once, under a purpose, with its whole summary."""
    lines = shown().splitlines()
    assert max(map(len, lines)) <= 80
    for told in REFERENCE:
        assert len([line for line in lines if line.split() and line.split()[0] == told.name]) == 1
        assert any(line.endswith(f"  {told.summary}") for line in lines), told.summary
    assert {f"{purpose}:" for purpose in main.purposes} < set(lines)
    assert "opgen docs" in "\n".join(lines[-3:])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the examples name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPGEN_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("leaky.yaml", "native_functions.yaml", "released.yaml"):
        Path(name).write_text(LEAKY)
    Path("csrc").mkdir()
    Path("csrc/ops.cpp").write_text('TORCH_LIBRARY(mine, m) { m.def("f(Tensor x) -> Tensor"); }\n')
    return tmp_path


@pytest.mark.parametrize("told", REFERENCE, ids=lambda told: told.name)
def test_the_example_runs(told: Section, folder: Path) -> None:
    """Protects examples from options that were renamed: each one is run, or at least parsed."""
    line = re.sub(r'eval "\$\((.*)\)"', r"\1", told.example)
    program, name, *arguments = shlex.split(line)
    assert told.name == name
    with main.make_context(program, [name]) as context:
        command = main.get_command(context, name)
        assert command is not None
        command.make_context(name, list(arguments), parent=context)
    if name in NOT_RUN:
        return
    if name == "import":
        Path("native_functions.yaml").unlink()
    if name == "check":
        assert CliRunner().invoke(main, ["generate", *arguments]).exit_code == 0
    result = CliRunner().invoke(main, [name, *arguments])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("lin", "did you mean 'lint'?"),
        ("gen", "did you mean 'generate'?"),
        ("Build", "did you mean 'build'?"),
        ("leaky.yaml", "as in 'opgen lint leaky.yaml'"),
        ("qqq", "'opgen --help' lists all commands"),
    ],
)
def test_an_unknown_command(typed: str, said: str) -> None:
    result = CliRunner().invoke(main, [typed, "x"])
    assert result.exit_code == 2 and f"there is no command '{typed}'; " in result.stderr
    assert said in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option(name: str) -> None:
    """Protects `did you mean` of options, which Click writes, for the longest option of each command."""
    context = main.make_context("opgen", ["lsp"])
    command = main.get_command(context, name)
    assert command is not None
    options = [p for p in command.get_params(click.Context(command)) if isinstance(p, click.Option)]
    longest = max(
        (option for param in options if not param.hidden for option in param.opts), key=len
    )
    typed = f"{longest[:-2]}{longest[-1]}{longest[-2]}"
    result = CliRunner().invoke(main, [name, typed])
    assert result.exit_code == 2 and longest in result.stderr, result.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "generate a.yaml -o out --kernels k",
            "'opgen generate' has no option --kernels; 'opgen lint' and 'opgen build' have it",
        ),
        (
            "stub --jobs 2",
            "'opgen stub' has no option --jobs; 'opgen build' and 'opgen verify' have it",
        ),
        ("new mylib --shards 2", "'opgen build'"),
        ("generate --kernles k", "no such option"),
    ],
)
def test_an_option_of_another_command(line: str, said: str) -> None:
    """Protects a user who looks for an option in the wrong command from the name of one that is spelt alike."""
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 2 and said in result.stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cache lits", "did you mean 'list'?"),
        ("lint --target runtme", "did you mean 'runtime'?"),
        ("dump --stage signaturs", "did you mean 'signatures'?"),
        ("cache qqq", "'qqq' is not one of"),
    ],
)
def test_a_word_that_is_no_choice(line: str, said: str) -> None:
    result = CliRunner().invoke(main, line.split())
    assert result.exit_code == 2 and said in result.stderr


def test_files_and_operators_are_told_apart(opgen: Opgen) -> None:
    """Protects the commands whose arguments are the YAML and operators, in any order."""
    Path("sub").mkdir()
    shutil.copy("good.yaml", "sub/schemas.txt")
    for command in ("stub", "explain", "select"):
        plain = opgen(command, "good.yaml", "neg")
        assert plain.exit_code == 0 and "neg" in plain.stdout, plain.stderr
        spellings = (("neg", "good.yaml"), ("neg", "./good.yaml"))
        for spelling in (*spellings, ("sub/schemas.txt", "neg")):
            again = opgen(command, *spelling)
            assert again.exit_code == 0, again.stderr
            if "/" not in " ".join(spelling):
                assert again.stdout == plain.stdout, spelling
    for words in ((), ("neg", "add")):
        result = opgen("explain", "good.yaml", *words)
        assert result.exit_code == 2 and "OP|CODE" in result.stderr + "OP|CODE" * len(words)


@pytest.mark.parametrize("command", ["build", "check", "generate"])
def test_yaml_in_this_folder_is_the_default(opgen: Opgen, command: str) -> None:
    missing = opgen(command, "-o", "out")
    assert missing.exit_code == 2 and "there is no native_functions.yaml" in missing.stderr
    assert "missing argument 'OP|CODE'" in opgen("explain").stderr
    Path("native_functions.yaml").write_text(GOOD)
    assert opgen("lint").stdout == opgen("lint", "native_functions.yaml").stdout
    assert opgen("explain", "neg").exit_code == 0 and opgen("explain", "E0402").exit_code == 0


def test_docs_lists_and_prints_pages(opgen: Opgen) -> None:
    """Protects the documentation of a user who has only a wheel."""
    pages = documentation()
    listed = opgen("docs").stdout
    # A page that answers a question in two sections is listed once.
    lines = listed.splitlines()
    assert not any(line == after for line, after in pairwise(lines) if line)
    assert set(re.findall(r"^    (\S+)  ", listed, re.MULTILINE)) == set(pages) - {"index"}
    questions = re.findall(r"^\* (.*?) →", pages["index"].read_text(), re.MULTILINE)
    assert len(questions) > 20 and all(f"\n  {question}\n" in listed for question in questions)
    assert opgen("docs", "--path").stdout.split() == [str(path) for path in pages.values()]
    lints = next(path for name, path in pages.items() if name.split("/")[-1] == "lints")
    for name in ("lints", "docs/reference/lints.md", "lints.md"):
        assert opgen("docs", name).stdout == lints.read_text()
    assert opgen("docs", "--path", "lints").stdout == f"{lints}\n"
    both = opgen("docs", "torch")
    assert both.exit_code == 1 and "start/torch" in both.stderr and "reference/torch" in both.stderr
    assert opgen("docs", "start/torch").exit_code == 0
    assert "'opgen docs --search qqq' finds words" in opgen("docs", "qqq").stderr
    unknown = opgen("docs", "lint")
    assert unknown.exit_code == 1 and "there is no page 'lint'; did you mean" in unknown.stderr


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("gdb", "guides/debugging:"),
        ("autocast", "concepts/dispatch:"),
        ("Thread SAFE", "guides/"),
        ("derivatives.yaml", "reference/derivatives:1\n    # derivatives.yaml: gradients\n"),
    ],
)
def test_docs_finds_pages_by_words(opgen: Opgen, words: str, first: str) -> None:
    """Protects readers who know a word and not the page: the best page comes first, with its line."""
    found = opgen("docs", "--search", words)
    assert found.exit_code == 0 and found.stdout.startswith(first)
    places = re.findall(r"^(\S+):(\d+)\n    (.*)$", found.stdout, re.MULTILINE)
    assert 1 <= len(places) <= 10 and 2 * len(places) == len(found.stdout.splitlines())
    for name, number, line in places:
        text = documentation()[name].read_text()
        assert all(word.casefold() in text.casefold() for word in words.split())
        assert text.splitlines()[int(number) - 1].strip() == line


def test_docs_says_that_no_page_has_the_words(opgen: Opgen) -> None:
    for words in ("qwertzuiop", "gdb qwertzuiop", " "):
        missing = opgen("docs", "--search", words)
        assert missing.exit_code == 1 and "no page contains" in missing.stderr
    assert opgen("docs", "lints", "--search", "x").exit_code == 2


def test_a_slash_after_the_name_of_a_new_package(opgen: Opgen) -> None:
    """Protects names that a shell completed."""
    assert opgen("new", "leaky/").exit_code == 0
    assert opgen("new", "plain").exit_code == 0
    files = {path.relative_to("leaky") for path in Path("leaky").rglob("*")}
    assert len(files) == len(list(Path("plain").rglob("*")))
    assert "leaky" in Path("leaky/README.md").read_text()


@pytest.mark.parametrize("variable", ["opgen_DIR", "opgen_torch_DIR", "CMAKE_PREFIX_PATH"])
def test_the_folder_for_cmake(opgen: Opgen, variable: str) -> None:
    """Protects what help and docs/guides/builds.md say about --cmake-dir: CMake finds a package with each of the variables."""
    assert variable in shown()
    folder = opgen("--cmake-dir").stdout.strip()
    for name in ("opgen", "opgen_torch"):
        config = Path(folder, f"{name}Config.cmake")
        assert config.is_file() and config.with_name(f"{name}ConfigVersion.cmake").is_file()
    Path("CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(found NONE)\n"
        "find_package(opgen REQUIRED CONFIG)\n"
    )
    if variable != "opgen_torch_DIR":
        command = [tool("cmake"), "-G", "Ninja", "-S.", "-Bb", f"-D{variable}={folder}"]
        run([*command, f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"])
