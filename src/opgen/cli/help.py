"""The help of all commands: its sections, the list of commands by purpose, and "did you mean".

A command is a `Command` with an example, its exit codes and the pages of the documentation that explain it. An option
that several commands share is a `SharedOption` with the heading under which help shows it.

`reference` returns the same help as values, for a page of the documentation: for each command its name, purpose, usage,
summary, description, arguments, own options, shared options by heading, example, exit codes and pages.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import click
from msgspec import Struct

_FAILED = "there is an error; with --deny-warnings, also if there is a warning"
_WRONG_COMMAND_LINE = "the command line is wrong"

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


class CommandReference(Struct, frozen=True):
    """The help page of one command. A row is a term (an argument, an option, an exit code) and its meaning."""

    name: str
    purpose: str
    usage: str
    summary: str
    description: str
    arguments: tuple[Row, ...]
    options: tuple[Row, ...]
    shared_options: Mapping[str, tuple[Row, ...]]
    example: str
    exit_codes: tuple[Row, ...]
    pages: tuple[str, ...]


class Argument(click.Argument):
    """An argument with help: a term and its meaning for each kind of value."""

    def __init__(self, *args: Any, rows: Iterable[Row], **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.rows = tuple(rows)


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


class SharedOption(ProjectOption):
    """An option that several commands share; help shows it after the command's own, under a heading."""

    def __init__(self, *args: Any, heading: str, **attrs: Any) -> None:
        super().__init__(*args, **attrs)
        self.heading = heading


class Command(click.Command):
    """A command whose help shows its own options before the shared ones, an example and the exit codes.

    `example` is one command line. `fails` says when the exit code is 1; None if it never is. `pages` are names for
    `opgen docs`.
    """

    def __init__(
        self,
        *args: Any,
        example: str,
        fails: str | None = _FAILED,
        pages: Sequence[str] = (),
        **attrs: Any,
    ) -> None:
        super().__init__(*args, **attrs)
        self.example = example
        self.pages = tuple(pages)
        codes = (("0", "done"), ("1", fails), ("2", _WRONG_COMMAND_LINE))
        self.exit_codes = tuple((code, when) for code, when in codes if when is not None)
        self.params.append(_short_help_option())

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the parts of the usage line, with the options that are required."""
        required = [
            f"{min(option.opts, key=len)} {option.metavar or option.type.name.upper()}"
            for option in self.get_params(ctx)
            if isinstance(option, click.Option) and option.required
        ]
        options, *arguments = super().collect_usage_pieces(ctx)
        return [options, *required, *arguments]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line; for an option that another command has, fail with the names of these."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            group = ctx.parent.command if ctx.parent is not None else None
            having = group.having(ctx.parent, error.option_name) if isinstance(group, Group) else []
            if not having:
                raise
            names = " and ".join(f"'opgen {name}'" for name in having)
            have = "has" if len(having) == 1 else "have"
            ctx.fail(f"'opgen {self.name}' has no option {error.option_name}; {names} {have} it")

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help, section by section."""
        told = describe(self, ctx, "")
        self.format_usage(ctx, formatter)
        self.format_help_text(ctx, formatter)
        self._write_sections(told, told.shared_options, formatter)

    def short_help_text(self, ctx: click.Context) -> str:
        """Return the help for -h: the summary and the command's own options."""
        told = describe(self, ctx, "")
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(f"{told.summary}.")
        self._write_sections(told, {}, formatter)
        number = sum(map(len, told.shared_options.values()))
        more = f" and the {number} options that commands share" if number else ""
        formatter.write_paragraph()
        formatter.write_text(f"'{ctx.command_path} --help' prints the whole help{more}.")
        return formatter.getvalue().rstrip("\n")

    def _write_sections(
        self,
        told: CommandReference,
        shared: Mapping[str, tuple[Row, ...]],
        formatter: click.HelpFormatter,
    ) -> None:
        sections = {"Arguments": told.arguments, "Options": told.options, **shared}
        for heading, rows in sections.items():
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
                    _write_line(formatter, f"{name:{column}}  {_summary(self._command(ctx, name))}")

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

    def having(self, ctx: click.Context | None, option: str) -> list[str]:
        """Return the commands that have an option, in the order of help."""
        with click.Context(self) as own:
            commands = [self._command(ctx or own, name) for name in self.list_commands(own)]
        return [
            command.name or ""
            for command in commands
            for param in command.params
            if isinstance(param, click.Option) and not param.hidden and option in param.opts
        ]

    def _command(self, ctx: click.Context, name: str) -> click.Command:
        command = self.get_command(ctx, name)
        assert command is not None
        return command


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


def _short_help_option() -> click.Option:
    def print_help(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not context.resilient_parsing:
            assert isinstance(context.command, Command)
            click.echo(context.command.short_help_text(context))
            context.exit()

    return click.Option(
        ["-h"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=print_help,
        help="Show the most important part of this message and exit.",
    )


def reference(group: Group) -> tuple[CommandReference, ...]:
    """Return what help says about each command of `group`, in the order of help."""
    found = []
    with click.Context(group, info_name=group.name, **group.context_settings) as context:
        for purpose, names in group.purposes.items():
            for name in names:
                command = group.get_command(context, name)
                assert isinstance(command, Command)
                with click.Context(command, info_name=name, parent=context) as inner:
                    found.append(describe(command, inner, purpose))
    return tuple(found)


def describe(command: Command, ctx: click.Context, purpose: str) -> CommandReference:
    """Return what help says about one command."""
    params = command.get_params(ctx)
    arguments = [row for param in params if isinstance(param, Argument) for row in param.rows]
    own = [
        param
        for param in params
        if isinstance(param, click.Option) and not isinstance(param, SharedOption)
    ]
    own.sort(key=lambda param: (not param.required, "help" in param.opts))
    shared = [param for param in params if isinstance(param, SharedOption)]
    by_heading = {
        heading: tuple(_records(of_heading, ctx))
        for heading, of_heading in groupby(shared, lambda param: param.heading)
    }
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n", 1)
    return CommandReference(
        name=command.name or "",
        purpose=purpose,
        usage=" ".join([ctx.command_path, *command.collect_usage_pieces(ctx)]),
        summary=_summary(command),
        description=paragraphs[1] if len(paragraphs) > 1 else "",
        arguments=tuple(arguments),
        options=tuple(_records(own, ctx)),
        shared_options=by_heading,
        example=command.example,
        exit_codes=command.exit_codes,
        pages=command.pages,
    )


def _records(options: Iterable[click.Option], ctx: click.Context) -> Iterator[Row]:
    records = (option.get_help_record(ctx) for option in options)
    return (record for record in records if record is not None)


def _summary(command: click.Command) -> str:
    """Return the first paragraph of a command's help, which is one line, without its full stop."""
    first = inspect.cleandoc(command.help or "").split("\n\n")[0]
    return re.sub(r"\s+", " ", first).removesuffix(".")


def _write_line(formatter: click.HelpFormatter, text: str) -> None:
    """Write one line, which is not wrapped."""
    formatter.write(f"{'':{formatter.current_indent}}{text}\n")
