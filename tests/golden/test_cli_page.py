"""docs/reference/cli.md, which `--help` prints, says what the commands have."""

from __future__ import annotations

import re

import click
import pytest

from opgen.cli.help import describe
from opgen.cli.main import COMMANDS, main
from opgen.data import find_folder
from support.build import REPOSITORY

PAGE = REPOSITORY / "docs" / "reference" / "cli.md"
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_the_arguments_and_options_of_a_command(name: str) -> None:
    """Protects help from an option, a value or a default that was added, changed or removed."""
    told, context = describe(name), click.Context(main)
    command = main.get_command(context, name)
    assert command is not None
    found: list[str] = []
    for param in command.params:
        if isinstance(param, click.Argument):
            shown = "]..." if param.nargs == -1 else param.make_metavar(context)
            assert shown in told.usage
        elif isinstance(param, click.Option):
            term, meaning = told.every_option()[param.opts[-1]]
            named = [*param.opts, *param.secondary_opts]
            assert re.findall(r"(?<!\S)--?[\w-]+", term) == named
            value = re.sub(r"(?<!\S)--?[\w-]+|[,/]", "", term).strip()
            assert param.is_flag == (not value), term
            if isinstance(param.type, click.Choice):
                words = re.split(r"[|, ]+", f"{value.strip('[]')} {meaning.replace('.', ' ')}")
                assert set(param.type.choices) <= set(words), term
            default = param.get_default(context)
            if isinstance(default, (str, int)) and default is not False:
                assert f"[default: {default}" in meaning, term
            assert param.multiple == ("repeatable" in meaning), term
            found += named
    assert sorted(found) == sorted(told.every_option())


def test_every_command_has_its_section() -> None:
    assert re.findall(r"^## opgen (\S+)$", TEXT, re.MULTILINE) == list(COMMANDS)
    listed = re.findall(r"^\| \[`opgen (\S+)`\]\(#opgen-\1\) \| (.*)\. \|$", TEXT, re.MULTILINE)
    assert listed == [(name, describe(name).summary) for name in COMMANDS]


def test_the_page_has_the_options_of_opgen_itself() -> None:
    with click.Context(main, info_name="opgen", **main.context_settings) as context:
        records = [param.get_help_record(context) for param in main.get_params(context)]
    for record in filter(None, records):
        assert f"| `{record[0]}` | {record[1]} |\n" in TEXT


def test_links_have_the_titles_of_pages() -> None:
    for line in re.findall(r"^Read more: .*$", TEXT, re.MULTILINE):
        for title, path in re.findall(r"\[(.*?)\]\((.*?)\)", line):
            page = (find_folder("docs") / "reference" / path).read_text(encoding="utf-8")
            assert f"# {title}\n" in page
