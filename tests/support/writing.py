"""A process that writes trees, which the tests of the writer start, kill, and run short of resources or in
parallel.

    python writing.py DIRECTORY VERSION...        write these versions in turn, once
    python writing.py --forever DIRECTORY VERSION...

Prints `ready` when everything is imported, and waits for a line; then prints a line of codes for each version,
empty if there is no problem. `--as UID` first gives up root's rights, because file permissions do not restrict root.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from pathlib import Path

from opgen.diagnostics import Diagnostics
from opgen.io.writer import Tree, write

_FILES = 60


def tree(version: int) -> Tree:
    """Return a tree in which some files stay, some change, and some exist only in certain versions."""
    names = {
        f"{('include/lib/ops', 'src', f'deep{version % 3}/er')[i % 3]}/f{i}.h": i
        for i in range(_FILES)
        if (i + version) % 4
    }
    texts = {path: f"// {version if i % 5 else 0}, {i}\n" * 200 for path, i in names.items()}
    return Tree(texts, {"name": "lib", "operators": {}})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--forever", action="store_true")
    parser.add_argument("--as", type=int, dest="user")
    parser.add_argument("directory", type=Path)
    parser.add_argument("versions", type=int, nargs="+")
    given = parser.parse_args()
    trees = [tree(version) for version in given.versions]
    if given.user is not None and os.getuid() == 0:
        os.setgroups([])
        os.setgid(given.user)
        os.setuid(given.user)
    print("ready", flush=True)
    sys.stdin.readline()
    for one in itertools.cycle(trees) if given.forever else trees:
        diagnostics = Diagnostics()
        write(one, given.directory, diagnostics)
        print(*(item.code for item in diagnostics), flush=True)


if __name__ == "__main__":
    main()
