"""Command lines and inputs that people write every day, almost right: each is answered with what it is."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import click
import pytest
from cli_support import GOOD, Opgen
from click.testing import CliRunner

from opgen.cli.main import COMMANDS, main
from opgen.data import documentation, read_text
from opgen.diagnostics import known_codes
from opgen.diagnostics.properties import NAMES
from opgen.importing import library as reader
from opgen.pipeline.building import explain_failure
from support.build import REPOSITORY, run, tool

# Codes


@pytest.mark.parametrize(
    ("given", "page"),
    [
        ("e0402", "E0402: "),
        ("402", "E0402: "),
        ("0402", "E0402: "),
        ("v0110", "V0110: "),
        ("DA1", "DA1 is a case of torchgen: two entries for one operator\nopgen: E1211\n"),
        ("D17", "D17 is a case of torchgen: "),
        # Both a case of torchgen and, with a zero, a property.
        ("V113", "V113 is a case of torchgen: delegate target does not exist"),
    ],
)
def test_a_code_is_understood_as_people_write_it(opgen: Opgen, given: str, page: str) -> None:
    found = opgen("explain", given)
    assert (found.exit_code, found.stdout.startswith(page)) == (0, True), found.output


def test_every_code_that_a_text_names_is_explained() -> None:
    """Protects from dead ends: pages, messages and help name codes of diagnostics, properties and torchgen's cases."""
    texts = [page.read_text() for page in documentation().values()]
    texts += [path.read_text() for path in (REPOSITORY / "src/opgen").rglob("*.py")]
    named = {code for text in texts for code in re.findall(r"\b[EWV]\d{4}\b", text)}
    known = {*known_codes(), *NAMES}
    texts.append(read_text("torchgen_cases.md"))
    rows = set(re.findall(r"^\| (\w+) \|", "\n".join(texts), re.MULTILINE))
    cases = (named - known) & rows
    assert sorted(named - known - cases) == []
    # A case of each letter, by the command.
    for code in {case[:-1].rstrip("0123456789"): case for case in sorted(cases)}.values():
        assert CliRunner().invoke(main, ["explain", code]).exit_code == 0, code


def test_an_unknown_code_is_an_error_with_a_hint(opgen: Opgen) -> None:
    found = opgen("explain", "E9999")
    assert found.exit_code == 1 and found.stderr.startswith("error: there is no code E9999; ")


# Command lines


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (("-V",), "opgen, version "),
        (("version",), "opgen, version "),
        (("help",), "Usage: opgen [OPTIONS] COMMAND"),
        (("help", "lint"), "Usage: opgen lint "),
        (("-h",), "Usage: opgen [OPTIONS] COMMAND"),
    ],
)
def test_the_usual_ways_to_ask(opgen: Opgen, arguments: tuple[str, ...], begins: str) -> None:
    found = opgen(*arguments)
    assert (found.exit_code, found.stdout.startswith(begins)) == (0, True), found.output


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_has_no_shared_options(name: str) -> None:
    short = CliRunner().invoke(main, [name, "-h"])
    whole = CliRunner().invoke(main, [name, "--help"])
    assert short.exit_code == whole.exit_code == 0
    assert "Shared options" not in short.stdout and len(short.stdout) < len(whole.stdout)
    assert f"'opgen {name} --help' prints the whole help" in " ".join(short.stdout.split())


def test_help_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    widths = {}
    for columns in (80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = run([tool("opgen"), "lint", "--help"])
        widths[columns] = max(map(len, text.splitlines()))
    assert widths[80] <= 80 < widths[200] <= 120


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("stubb",), 2),
        (("lint", "--foo"), 2),
        (("--foo",), 2),
        (("new",), 2),
        (("completion",), 2),
        (("completion", "powershell"), 2),
        (("explain",), 2),
        (("lint", "nowhere.yaml"), 1),
        (("docs", "nowhere"), 1),
        (("generate", "good.yaml", "-o", ""), 2),
        (("verify", "good.yaml", "--build", "nowhere"), 1),
        (("verify", "good.yaml", "--load", "x", "--property", "nothing"), 2),
    ],
    ids=str,
)
def test_errors_have_one_style(opgen: Opgen, arguments: tuple[str, ...], code: int) -> None:
    """`error: ` or `error[CODE]: `, a sentence in small letters without a full stop, in one line without tabs."""
    found = opgen(*arguments)
    first = found.stderr.splitlines()[0]
    assert found.exit_code == code
    assert re.fullmatch(r"error(\[E\d{4}\])?: [^A-Z\t].*[^.]", first), found.stderr
    assert "Usage:" not in found.output and "\t" not in found.output


def test_click_s_errors_are_not_lost(opgen: Opgen) -> None:
    found = opgen("lint", "--fromat", "json")
    assert found.stderr == (
        "error: no such option '--fromat'; did you mean '--format'?\n"
        "  = help: 'opgen lint --help' explains the command line\n"
    )
    assert issubclass(click.UsageError, click.ClickException)


# Inputs


def test_lint_of_a_folder_and_of_formulas(opgen: Opgen) -> None:
    os.mkdir("lib")
    nothing = opgen("lint", "lib")
    assert nothing.exit_code == 1 and "E0905" in nothing.stderr
    Path("lib/native_functions.yaml").write_text(GOOD)
    assert opgen("lint", "lib").stdout.startswith("3 entries, ")
    for head in ("", "- namespace: lib\n"):
        Path("derivatives.yaml").write_text(f"{head}- name: mul\n  self: grad\n- name: neg\n")
        found = opgen("lint", "derivatives.yaml")
        assert found.exit_code == 1 and found.stderr.count("error[") == 1, found.stderr
        assert "E0113" in found.stderr


@pytest.mark.parametrize("name", ["good.yaml", "kernels.txt", "kernels.h"])
@pytest.mark.parametrize("command", [("lint",), ("build", "-o", "out")])
def test_what_is_no_kernel_source_is_refused(
    opgen: Opgen, name: str, command: tuple[str, ...]
) -> None:
    if name != "good.yaml":
        Path(name).write_text("")
    found = opgen(command[0], "good.yaml", *command[1:], "--kernels", name)
    assert found.exit_code == 1 and f"{name} is not a kernel source" in found.stderr
    assert not Path("out").exists()


def test_a_stub_returns_the_arguments_that_its_schema_returns(opgen: Opgen) -> None:
    Path("ops.yaml").write_text(
        "- func: my::add_(Tensor(a!) self, Tensor other) -> Tensor(a!)\n"
        "  dispatch: {CPU: add_cpu_}\n"
        "- func: my::two.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))\n"
        "  dispatch: {CPU: two_out}\n"
        "- func: my::view(Tensor(a) self) -> Tensor(a)\n"
        "  dispatch: {CPU: view}\n"
    )
    text = opgen("stub", "ops.yaml").stdout
    returned = re.findall(r"\) \{\n  throw [^\n]*\n(?:  (return [^\n]*)\n)?\}", text)
    assert returned == ["return self;", "return std::forward_as_tuple(x, y);", ""]


def test_a_compile_error_begins_with_the_kernel_and_its_entry(tmp_path: Path) -> None:
    source = tmp_path / "k.cpp"
    source.write_text("OPGEN_KERNEL(a)() {}\n\nOPGEN_KERNEL(b)(const Tensor& x) {\n  x.foo();\n}\n")
    printed = (
        f"FAILED: [code=1] k.o\n/usr/bin/c++ -O3 -c {source}\n"
        f"{source}: In function 'b':\n{source}:4:5: error: no 'foo'\nninja: build stopped: x.\n"
    )
    lines = explain_failure(printed, [source], {"OPGEN_KERNEL(b)": "my::f"}).splitlines()
    assert lines == [
        f"error: {source}: OPGEN_KERNEL(b) of my::f does not compile",
        f"{source}: In function 'b':",
        f"{source}:4:5: error: no 'foo'",
    ]
    assert explain_failure("ld: x\n", [source], {}).startswith("error: the library does not")


@pytest.mark.parametrize(
    "printed",
    [
        "ld: a.o: in function `opgen::Existing<ns::_ops::f, &own::f>::call(at::Tensor const&)':\n"
        "a.cpp:(.text._Z1f+0xe): undefined reference to `own::f(at::Tensor const&)'\n"
        "collect2: error: ld returned 1 exit status\n",
        "ld.lld: error: undefined symbol: own::f(at::Tensor const&)\n>>> referenced by a.cpp\n"
        "clang: error: linker command failed with exit code 1 (use -v to see invocation)\n",
    ],
    ids=["gnu", "lld"],
)
def test_an_existing_function_that_no_source_defines(printed: str) -> None:
    """Protects adoption: the row's place and the function in words, and no mangled name. Other errors stay."""
    said = explain_failure(printed, [], {}, {"::own::f": "a.yaml:3:10"})
    assert said == (
        "error: a.yaml:3:10: no source defines 'own::f(at::Tensor const&)'\n"
        "  = help: pass the file that does to --kernels; its types must be those of the header\n"
    )
    other = printed.replace("own::f(", "own::g(")
    assert explain_failure(other, [], {}, {"::own::f": "a.yaml:3:10"}).endswith(other)


@pytest.mark.parametrize(
    "printed",
    [
        "b.cpp:(.text+0x0): multiple definition of `own::f(at::Tensor const&)'; a.cpp.o: first defined here\n",
        "ld.lld: error: duplicate symbol: own::f(at::Tensor const&)\n>>> defined at a.cpp\n",
    ],
)
def test_a_function_that_two_sources_define_is_reported_at_its_row(printed: str) -> None:
    """Protects the reader of what GNU's linker and LLVM's print: it names no row."""
    said = explain_failure(printed, [], {}, {"::own::f": "a.yaml:3:10"})
    words = "error: a.yaml:3:10: several sources define 'own::f(at::Tensor const&)'\n"
    assert said.startswith(words) and said.endswith(printed)


# Names


@pytest.mark.parametrize("name", ["gamma", "nan", "index", "remainder", "link", "div"])
def test_a_function_of_c_is_no_namespace(opgen: Opgen, name: str) -> None:
    """`namespace gamma` does not compile where <math.h> declares the function."""
    found = opgen("new", name)
    assert found.exit_code == 1 and "E0915" in found.stderr and not Path(name).exists()
    Path("ops.yaml").write_text(f"- func: {name}::f(Tensor self) -> Tensor\n")
    assert "E0342" in opgen("lint", "ops.yaml").stderr


@pytest.mark.parametrize("name", ["numpy", "test", "pip"])
def test_a_well_known_name_is_warned_about(opgen: Opgen, name: str) -> None:
    found = opgen("new", name)
    assert found.exit_code == 0 and "W0923" in found.stderr and Path(name, "README.md").exists()


@pytest.mark.parametrize("folder", ["a,b", "${HOME}", "$ENV{HOME}", "a;b", "x" * 200 + "/"])
def test_a_folder_that_cmake_cannot_read_is_refused(opgen: Opgen, folder: str) -> None:
    deep = folder * 16 if folder.endswith("/") else folder
    found = opgen("build", "good.yaml", "-o", deep)
    assert found.exit_code == 1 and "E0905" in found.stderr and not Path(folder).exists()


# Other people's files


def test_a_cache_of_links_is_cleared(opgen: Opgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that someone moved to another disk and linked: the link goes, and what it leads to stays."""
    cache = Path("cache").absolute()
    cache.mkdir()
    monkeypatch.setenv("OPGEN_CACHE_DIR", str(cache))
    Path("elsewhere").mkdir()
    Path("elsewhere/kept").write_text("")
    (cache / f"opgen_runtime-{'0' * 32}").symlink_to(Path("elsewhere").absolute())
    (cache / f"opgen_runtime-{'1' * 32}").write_text("a file")
    (cache / f"opgen_runtime-{'2' * 32}").mkdir()
    found = opgen("cache", "clear")
    assert (found.exit_code, found.stderr) == (0, ""), found.output
    assert not list(cache.iterdir()) and Path("elsewhere/kept").exists()


def test_registrations_in_a_macro_without_parameters_are_read(opgen: Opgen) -> None:
    Path("x.cpp").write_text(
        '#define MORE m.def("b(Tensor x) -> Tensor");\n'
        '#define ALL TORCH_LIBRARY_FRAGMENT(demo, m) { m.def("d(Tensor x) -> Tensor"); }\n'
        "#define UNUSED m.def(x);\n"
        'TORCH_LIBRARY(demo, m) {\n  m.def("a(Tensor x) -> Tensor");\n  MORE\n}\nALL\n'
    )
    found = opgen("import", "x.cpp")
    assert "W1160" not in found.stderr
    assert re.findall(r"func: demo::(\w)\(", found.stdout) == ["a", "b", "d"]


def test_a_library_that_hangs_ends_with_all_it_started(
    opgen: Opgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module starts a program that holds the pipes, and never returns."""
    monkeypatch.setattr(reader, "TIMEOUT", 10)
    Path("torch.py").write_text(
        "import os, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    found = opgen("import", "--from-library", "x")
    assert found.exit_code == 1 and "did not finish loading" in found.stderr
    child = Path("/proc", Path("child").read_text())
    ended = time.monotonic() + 10
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2]:
        assert time.monotonic() < ended, "the program still runs"
        time.sleep(0.05)


def test_all_lines_of_an_exception_are_shown(opgen: Opgen) -> None:
    Path("torch.py").write_text(
        "raise ImportError('libfoo.so: undefined symbol\\nwhich is in libbar')"
    )
    found = opgen("import", "--from-library", "x")
    assert "cannot be loaded: ImportError: libfoo.so: undefined symbol\n" in found.stderr
    assert "= note: which is in libbar\n" in found.stderr
