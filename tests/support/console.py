"""Pages that a reader follows from top to bottom: write the files that a page shows, and run its commands in order.

A block with a title is a file (```yaml title="leaky.yaml"), or a part of one ("kernels.cpp, at the end"). A `console`
block has commands after `$ `, each with the output that the page shows. `…` alone on a line stands for any lines, and
elsewhere for any characters. Lines after `>>> ` are typed into the Python session that the command before them begins;
a `pycon` block is a separate session.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]*)\")?\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Command:
    """A command line of a page, what is typed into it, and the output that the page shows."""

    line: str
    session: str
    output: str

    def matches(self, printed: str) -> bool:
        """Return whether this is the output of the page, whose `…` stands for anything."""
        lines = [re.escape(line).replace("…", ".*") for line in self.output.splitlines()]
        pattern = "".join(r"(?:.*\n)*" if line == ".*" else f"{line}\n" for line in lines)
        return re.fullmatch(pattern, printed) is not None


def commands(block: str) -> Iterator[Command]:
    """Yield the commands of a `console` block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, rest = part.partition("\n")
        typed = ">>> " in rest
        yield Command(line, rest if typed else "", "" if typed else rest)


def follow(
    page: str, folder: Path, environment: Mapping[str, str], leave_out: Mapping[str, str]
) -> list[str]:
    """Do in `folder` what `page` says; raise an AssertionError for a command that fails or prints something else.

    `leave_out` has the commands that are not run, with the reason. Returns all command lines of the page.
    """
    met = []
    for match in _BLOCK.finditer(page):
        if match["title"]:
            _write(match["title"], match["text"], folder)
        elif match["language"] == "pycon":
            _run(Command("python", match["text"], ""), folder, environment)
        elif match["language"] == "console":
            for command in commands(match["text"]):
                met.append(command.line)
                if command.line not in leave_out:
                    folder = _run(command, folder, environment)
    unknown = leave_out.keys() - met
    assert not unknown, f"the page has no longer {unknown}"
    return met


def _write(title: str, text: str, folder: Path) -> None:
    """Write a file, or add to one: above its first line or below its last."""
    name, _, place = title.partition(", at the ")
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    written = file.read_text(encoding="utf-8") if place else ""
    parts = (text, written) if place == "start" else (written, text)
    file.write_text("\n".join(part for part in parts if part), encoding="utf-8")


def _run(command: Command, folder: Path, environment: Mapping[str, str]) -> Path:
    """Run one command, and return the folder in which the next one runs."""
    line = command.line
    if line.startswith("cd "):
        return folder / line.removeprefix("cd ")
    if command.session:
        session = folder / "session.txt"
        session.write_text(command.session, encoding="utf-8")
        line = f"{line} -m doctest {session}"
    done = subprocess.run(
        ["sh", "-c", line],
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    printed = done.stdout
    fails = "Error: " in command.output
    assert (done.returncode != 0) == fails, f"$ {line}\n{printed}"
    assert command.session or command.matches(
        printed
    ), f"$ {line}\n{printed}\nis not\n{command.output}"
    return folder
