"""opgen accepts the YAML in the pages for authors without any diagnostic."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest

from opgen.cli.main import main
from opgen.diagnostics import Diagnostics
from opgen.diagnostics.rendering import render_human
from opgen.pipeline import checking, loading, queries
from support.inputs import aten_inputs
from support.pages import Page, library, pages, run_commands

_DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("concepts/dispatch.md", "runtime"),
        ("reference/keys.md", "torch"),
        ("reference/lints.md", "runtime"),
        ("concepts/structured.md", "runtime"),
    ],
)
def test_every_example_is_clean(name: str, target: str, tmp_path: Path) -> None:
    examples = re.findall(
        r"^```yaml\n(.*?)^```", (_DOCS / name).read_text(), re.DOTALL | re.MULTILINE
    )
    assert examples
    for number, text in enumerate(examples):
        file = tmp_path / f"{number}.yaml"
        file.write_text(text)
        diagnostics = Diagnostics()
        checking.inspect(aten_inputs((file,), target=target), diagnostics)
        assert render_human(diagnostics) == "", text


@pytest.mark.parametrize("target", ["runtime", "torch"])
def test_guides_are_clean(target: str, tmp_path: Path) -> None:
    """Protects a reader who copies the schemas of one guide or of all: they cause neither an error nor a warning."""
    every = pages()
    assert every
    made = library(every, target, tmp_path)
    for files in (*((file,) for file in made.yaml), made.yaml):
        diagnostics = Diagnostics()
        checking.inspect(aten_inputs(files, target=target, name="photo"), diagnostics)
        assert render_human(diagnostics) == "", files


@pytest.mark.parametrize("page", [p for p in pages() if p.commands()], ids=str)
def test_commands_of_guides(page: Page, tmp_path: Path) -> None:
    """Protects the commands that a guide shows with their output."""
    library([page], "runtime", tmp_path)
    run_commands(page, tmp_path / page.name)


def test_the_wheel_page_is_the_example_of_a_wheel() -> None:
    """Protects the guide's two files: they are those of the example that tests build, under another name."""
    (page,) = (p for p in pages() if p.name == "wheel")
    files = page.files("runtime")
    example = _DOCS.parent / "examples/python_package"
    for name in ("CMakeLists.txt", "pyproject.toml"):
        text = (example / name).read_text().replace("mixops", "photo")
        text = text.replace("Operators that mix tensors", "Operators for images")
        text = text.replace(
            "opgen_add_operators(photo YAML native_functions.yaml KERNELS kernels/mix.cpp PYTHON)",
            "file(GLOB kernels CONFIGURE_DEPENDS kernels/*.cpp)\n"
            "opgen_add_operators(photo YAML photo.yaml KERNELS ${kernels} PYTHON)",
        )
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        assert files[name].splitlines() == lines


def test_types_of_parameters(tmp_path: Path) -> None:
    """Protects the guide's table of types: each parameter is what `opgen stub` prints for the argument."""
    text = (_DOCS / "guides/lists-and-optionals.md").read_text()
    table = text.split("## The types")[1].strip().split("\n\n")[0]
    rows = [line.strip("|").split(" | ") for line in table.splitlines()[2:]]
    pairs = [pair for row in rows for pair in zip(*(re.findall("`([^`]+)`", c) for c in row[:2]))]
    assert len(pairs) > 15
    entries = [
        f"- func: photo::f{i}({argument}) -> ()\n  dispatch:\n    CPU: f{i}_cpu\n"
        for i, (argument, _) in enumerate(pairs)
    ]
    file = tmp_path / "types.yaml"
    file.write_text("\n".join(entries))
    inputs, diagnostics = aten_inputs((file,), name="photo"), Diagnostics()
    registry = loading.load(inputs, diagnostics)
    assert registry is not None
    printed = queries.skeletons(registry, inputs, (), diagnostics).replace("::std::", "std::")
    for i, (argument, parameter) in enumerate(pairs):
        assert f"OPGEN_KERNEL(f{i}_cpu)({parameter})" in printed, argument


_COMMANDS = [
    pytest.param(command, id=f"{path.stem}-{command}")
    for path in sorted((_DOCS / "guides").glob("*.md"))
    for block in Page(path).blocks
    if block.language in ("sh", "console")
    for command in re.findall(r"opgen ((?:[a-z]+ )[^\n&|;#)]*)", block.text.replace("\\\n", " "))
]


@pytest.mark.parametrize("command", _COMMANDS)
def test_commands_have_these_options(command: str) -> None:
    """Protects readers from commands and options that opgen does not have."""
    name, *words = shlex.split(command)
    main.get_command(click.Context(main, **main.context_settings), name).make_context(
        name, words, resilient_parsing=True
    )


@pytest.mark.parametrize("page", pages(), ids=str)
def test_cpp_is_formatted(page: Page) -> None:
    """Protects readers from examples in another style than that of this repository."""
    if shutil.which("clang-format") is None:
        pytest.skip("clang-format is not installed")
    style = f"--style=file:{_DOCS.parent / '.clang-format'}"
    for block in page.blocks:
        if block.language == "cpp" and block.is_file:
            command = ["clang-format", style, f"--assume-filename={block.title}"]
            done = subprocess.run(
                command, input=block.text, capture_output=True, text=True, check=True
            )
            assert block.text == done.stdout, block.title
