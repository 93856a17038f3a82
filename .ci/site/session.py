"""Draw docs/session.svg: a terminal in which opgen checks, builds and calls the operator of the README.

`python .ci/site/session.py` runs the commands on a terminal and writes the picture; `--check` compares it instead. The
compiler's time and the order of its steps are left out.
"""

from __future__ import annotations

import argparse
import html
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "session.svg"
COLORS = {"31": "#f47067", "32": "#8ddb8c", "33": "#daaa3f", "34": "#6cb6ff", "36": "#76e3ea"}
TEXT, GREY, BACKGROUND = "#cdd9e5", "#768390", "#22272e"
WIDTH, LINE, LEFT = 920, 19, 18


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="fail if the picture is another one")
    picture = draw(run_session())
    if parser.parse_args().check:
        sys.exit(picture != PICTURE.read_text() and f"{PICTURE} is out of date: run {__file__}")
    PICTURE.write_text(picture)


def run_session() -> list[str]:
    """Return the lines of the terminal."""
    entry = (ROOT / "examples/myadd/native_functions.yaml").read_text()
    entry = "".join(line for line in entry.splitlines(keepends=True) if not line.startswith("#"))
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "myadd.yaml").write_text(entry.lstrip().replace("Tensor other", "Tensr other"))
        kernels = folder / "kernels"
        kernels.mkdir()
        (kernels / "myadd.cpp").write_text((ROOT / "examples/myadd/kernels/myadd.cpp").read_text())
        for command in (
            "opgen lint myadd.yaml",
            "opgen lint --fix myadd.yaml",
            "opgen build myadd.yaml --kernels kernels --python -o build",
            'python -c "from myops import *; print(myadd(tensor([[1, 2], [3, 4]]), tensor([0.5, 1])))"',
            'python -c "from myops import *; myadd(tensor([1, 2]), tensor([1, 2, 3]))"',
        ):
            shown = command.replace("python -c", "PYTHONPATH=build/cmake-build/python python -c")
            lines += [f"$ {shown}", *_shown(_output(command, folder)), ""]
    return lines[:-1]


def _shown(text: str) -> list[str]:
    """Return what stays: a bar of progress is replaced by the next line, times differ."""
    lines = [line.rsplit("\r", 1)[-1].replace("\x1b[K", "") for line in text.split("\n")]
    left_out = (
        "looking for",
        "compiling",
        "the runtime",
        "the common",
        "Traceback",
        "  File",
    )
    kept = [line for line in lines if not line.startswith(left_out)]
    return [re.sub(r" +\([\d.]+ s\)$", "", line) for line in kept if line.strip()]


def _output(command: str, folder: Path) -> str:
    """Return what a command prints on a terminal."""
    leader, follower = pty.openpty()
    path = {
        "PYTHONPATH": str(folder / "build/cmake-build/python"),
        "TERM": "xterm",
        "COLUMNS": "100",
    }
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, **path, "PATH": programs}
    with subprocess.Popen(
        command,
        shell=True,
        cwd=folder,
        env=variables,
        stdin=follower,
        stdout=follower,
        stderr=follower,
    ):
        os.close(follower)
        said = b""
        # The end of a terminal is an error on Linux.
        while part := _read(leader):
            said += part
    os.close(leader)
    return said.decode().replace("\r\n", "\n")


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 1 << 16)
    except OSError:
        return b""


def draw(lines: list[str]) -> str:
    """Return the SVG of these lines, which may contain the colors of a terminal."""
    height = LINE * (len(lines) + 2)
    rows = "\n".join(
        f'<text x="{LEFT}" y="{LINE * (number + 1) + 12}">{_spans(line)}</text>'
        for number, line in enumerate(lines)
        if line
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" role="img" '
        f'aria-label="opgen finds a typo, builds the operator, and Python calls it">\n'
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>\n'
        f'<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" xml:space="preserve" '
        f'fill="{TEXT}">\n{rows}\n</g>\n</svg>\n'
    )


def _spans(line: str) -> str:
    if line.startswith("$ "):
        return f'<tspan fill="{GREY}">$ </tspan><tspan font-weight="bold">{html.escape(line[2:], quote=False)}</tspan>'
    made, color = "", TEXT
    for code, text in re.findall(r"(?:\x1b\[([\d;]*)m)?([^\x1b]*)", line):
        numbers = code.split(";") if code else []
        color = next(
            (COLORS[n] for n in numbers if n in COLORS), TEXT if code in ("0", "") else color
        )
        if text:
            made += f'<tspan fill="{color}">{html.escape(text, quote=False)}</tspan>'
    return made


if __name__ == "__main__":
    main()
