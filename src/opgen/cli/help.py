"""The help of all commands: docs/reference/cli.md says it, and this module prints it; and "did you mean".

Each command is a section of the page: its usage, what it does, its arguments and options, an example, its exit codes and
the pages that explain it. Commands declare only how values are read.
"""

from __future__ import annotations

import importlib
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import click
from msgspec import Struct

from opgen.data import read_sections, table_rows

_PAGE = "reference/cli"
_NAME = re.compile(r"(?<!\S)--?[\w-]+")

Row = tuple[str, str]


class _Error(click.ClickException):
    """A wrong command line, shown as diagnostics are: `error: ` and a sentence without a full stop, in one line."""

    def __init__(self, error: click.ClickException) -> None:
        # As Click writes it: "No such option '--fx'. (Did you mean '--fix'?)"
        super().__init__(error.message)
        text = re.sub(r"\s+", " ", error.format_message()).rstrip(". ")
        text = (
            text.replace(". Choose from:", "; choose from:")
            .replace("'. Did you", "'; did you")
            .replace("'. (Did", "' (did")
        )
        self._text = text[:1].lower() + text[1:] if text[1:2].islower() else text
        self._context = error.ctx if isinstance(error, click.UsageError) else None

    def show(self, file: Any = None) -> None:
        """Print the error to stderr, and how to get help."""
        click.echo(f"error: {self._text}", file=file, err=file is None)
        if self._context is not None:
            hint = f"'{self._context.command_path} --help' explains the command line"
            click.echo(f"  = help: {hint}", file=file, err=file is None)


class _UsageError(_Error):
    exit_code = click.UsageError.exit_code


class Section(Struct, frozen=True):
    """What the page says of a command. A row is a term (an argument, an option, an exit code) and its meaning.

    `shared` are the headings of the options that it shares with others. `pages` are names for `opgen docs`.
    """

    name: str
    usage: str
    summary: str
    description: str
    arguments: tuple[Row, ...]
    options: tuple[Row, ...]
    shared: tuple[str, ...]
    example: str
    exit_codes: tuple[Row, ...]
    pages: tuple[str, ...]

    def every_option(self) -> Mapping[str, Row]:
        """Return the rows of all options by their names."""
        rows = (*self.options, *(row for heading in self.shared for row in shared_options(heading)))
        return {name: row for row in rows for name in _NAME.findall(row[0])}


def shared_options(heading: str) -> tuple[Row, ...]:
    """Return the options that commands share under a heading, such as `what is read`."""
    return tuple(table_rows(read_sections(_PAGE)[heading.capitalize()]))


@cache
def describe(name: str) -> Section:
    """Return what the page says of a command."""
    text = read_sections(_PAGE)[f"opgen {name}"]
    usage, example = re.findall(r"^```\w+\n(.*)\n```$", text, re.MULTILINE)
    told = text.partition("```\n")[2].partition("\n| ")[0].strip()
    summary, _, description = told.partition("\n\n")
    rows = list(table_rows(text))
    links = re.findall(r"\]\(([\w./-]+)\.md\)", text.rpartition("Read more: ")[2])
    return Section(
        name=name,
        usage=usage,
        summary=summary.removesuffix("."),
        description=description,
        arguments=tuple(row for row in rows if not row[0].startswith("-") and not row[0].isdigit()),
        options=tuple(row for row in rows if row[0].startswith("-")),
        shared=tuple(re.findall(r"\[(what is \w+)\]\(#", text)),
        example=example,
        exit_codes=tuple(row for row in rows if row[0].isdigit()),
        pages=tuple(posixpath.normpath(f"{posixpath.dirname(_PAGE)}/{link}") for link in links),
    )


class Choice(click.Choice[str]):
    """One of some words; a word that is none of them is answered with the one that it may mean."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word; fail with a suggestion."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            hint = _did_you_mean(str(value), tuple(self.choices))
            if hint is None:
                raise
            self.fail(f"{error.message.rstrip('.')}; {hint}", param, ctx)


class ProjectOption(click.Option):
    """An option whose default is the value in the project's settings; if it `is_needed`, one of the two has to give it."""

    def __init__(self, *args: Any, is_needed: bool = False, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.is_needed = is_needed


class Command(click.Command):
    """A command, whose help is a section of the page."""

    def __init__(self, name: str, **attrs: Any) -> None:
        super().__init__(name, **attrs)
        self.told = describe(name)
        self.help = f"{self.told.summary}.\n\n{self.told.description}"
        show = self._print_short_help
        self.params.append(
            click.Option(["-h"], is_flag=True, is_eager=True, expose_value=False, callback=show)
        )
        rows = self.told.every_option()
        for param in self.params:
            if isinstance(param, click.Option):
                term, param.help = rows[param.opts[-1]]
                param.metavar = None if param.is_flag else term.rpartition(" ")[2]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the usage line after the name of the command."""
        return self.told.usage.split()[2:]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; for an option that another command has, fail with the names of these."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            group = ctx.parent.command if ctx.parent is not None else None
            commands = group.list_commands(ctx) if isinstance(group, Group) else ()
            having = [n for n in commands if error.option_name in describe(n).every_option()]
            if not having:
                raise
            names = " and ".join(f"'opgen {name}'" for name in having)
            have = "has" if len(having) == 1 else "have"
            ctx.fail(f"'opgen {self.name}' has no option {error.option_name}; {names} {have} it")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help, section by section."""
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        shared = {f"Shared options: {one}": shared_options(one) for one in self.told.shared}
        self._write_sections(shared, formatter)

    def _print_short_help(self, ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        """Print the help for -h, the summary and the command's own options, and end the command."""
        if not wanted or ctx.resilient_parsing:
            return
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{self.told.summary}.")
        self._write_sections({}, formatter)
        number = sum(len(shared_options(heading)) for heading in self.told.shared)
        more = f" and the {number} options that commands share" if number else ""
        formatter.write_paragraph()
        formatter.write_text(f"'{ctx.command_path} --help' prints the whole help{more}.")
        click.echo(formatter.getvalue().rstrip("\n"))
        ctx.exit()

    def _write_sections(
        self, shared: Mapping[str, Sequence[Row]], formatter: click.HelpFormatter
    ) -> None:
        told = self.told
        options = (*told.options, ("--help", "Show this message and exit."))
        for heading, rows in {"Arguments": told.arguments, "Options": options, **shared}.items():
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        with formatter.section("Example"):
            _write_line(formatter, told.example)
        with formatter.section("Exit codes"):
            formatter.write_dl(told.exit_codes)
        if told.pages:
            with formatter.section("Read more"):
                for page in told.pages:
                    _write_line(formatter, f"opgen docs {page}")


def command(name: str) -> Callable[[Callable[..., Any]], Command]:
    """Decorate the function that runs a command."""
    return click.command(name, cls=Command)


class Group(click.Group):
    """A group that lists its commands by purpose, and names the command that an unknown word may mean.

    `purposes` has the names of commands by purpose, in order.
    """

    purposes: Mapping[str, Sequence[str]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; -h, `help COMMAND` and `version` mean --help, `COMMAND --help` and --version."""
        if args[:1] in (["help"], ["-h"]):
            args = [*args[1:2], "--help"]
        elif args == ["version"]:
            args = ["--version"]
        with _one_style():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _one_style():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return [name for names in self.purposes.values() for name in names]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, each with its whole summary."""
        column = max(len(name) for name in self.list_commands(ctx))
        for purpose, names in self.purposes.items():
            with formatter.section(purpose):
                for name in names:
                    _write_line(formatter, f"{name:{column}}  {describe(name).summary}")

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` begins with; fail with the name that an unknown word may mean."""
        name = args[0]
        known = name in self.list_commands(ctx)
        if not (known or ctx.resilient_parsing or name.startswith("-")):
            ctx.fail(f"there is no command '{name}'; {self._advise(ctx, name)}")
        return super().resolve_command(ctx, args)

    def _advise(self, ctx: click.Context, word: str) -> str:
        """Return what to write in place of a word that is not a command."""
        if word.endswith((".yaml", ".yml")):
            return f"name one before the file, as in 'opgen lint {word}'"
        known = self.list_commands(ctx)
        beginning = [name for name in known if name.startswith(word)]
        if len(beginning) == 1:
            return f"did you mean '{beginning[0]}'?"
        return _did_you_mean(word, known) or "'opgen --help' lists all commands"


def _did_you_mean(word: str, known: Sequence[str]) -> str | None:
    """Return a hint that asks for the word of `known` that is meant, or None."""
    suggestions = importlib.import_module("opgen.diagnostics.suggestions")
    hint: str | None = suggestions.did_you_mean(word, known)
    return hint


@contextmanager
def _one_style() -> Iterator[None]:
    try:
        yield
    except (_Error, click.exceptions.NoArgsIsHelpError):
        raise
    except click.ClickException as error:
        raise (_UsageError if isinstance(error, click.UsageError) else _Error)(error) from error


def _write_line(formatter: click.HelpFormatter, text: str) -> None:
    """Write one line, which is not wrapped."""
    formatter.write(f"{'':{formatter.current_indent}}{text}\n")
