"""Keep the digests of the files that opgen wrote to a folder: `.opgen_stamp_digests`, which is not committed.

A file that is no longer generated is removed only if its digest shows that nobody edited it. A clone of a repository has
no digests; there the caller of `writer.write` may generate the file again to compare it.

A `.gitignore` in the folder keeps this file and the stamp out of version control. It is written once, with the first
digests, and never changed: after that it is the user's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path

from opgen.io.files import create_locked, read_regular, replace_file

DIGESTS = ".opgen_stamp_digests"
# The first line, in this version and any other; then a line for each file: PyTorch's have 0.7 MB.
_MAGIC = b"opgen digests "
_HEAD = _MAGIC + b"1\n"
_ROW = re.compile(r"^([0-9a-f]{32}) ([ -~]+)$", re.MULTILINE)
_MAX_BYTES = 30_000_000
_GITIGNORE = b"""\
# Written by opgen: these files are valid on one machine only.
/.opgen_stamp
/.opgen_stamp_digests
"""


def read_digests(directory: Path) -> dict[str, str]:
    """Return the digest of each generated file by path; empty if none are kept."""
    content = _read(directory)
    if content is None or not content.startswith(_HEAD):
        return {}
    return {path: digest for digest, path in _ROW.findall(content.decode(errors="replace"))}


def write_digests(directory: Path, digests: Mapping[str, str], *, required: bool = False) -> None:
    """Keep `digests` in `directory`, whose lock is held, unless a file that is not opgen's has the name.

    If they cannot be written, the next run has old ones or none, and at worst keeps a file that it could remove; with
    `required`, raises OSError.
    """
    rows = "".join(f"{digest} {path}\n" for path, digest in sorted(digests.items()))
    new, old = _HEAD + rows.encode(), _read(directory)
    if new == old or old is None or not old.startswith(_MAGIC[: len(old)]):
        return
    with nullcontext() if required else suppress(OSError):
        replace_file(directory / DIGESTS, new)
    if not old:
        # The user may have one already.
        with suppress(OSError):
            create_locked(directory / ".gitignore", _GITIGNORE)


def _read(directory: Path) -> bytes | None:
    """Return the bytes of the file, empty if there is none; None if it cannot be read or is not a regular file."""
    try:
        return read_regular(directory / DIGESTS, _MAX_BYTES)[1]
    except FileNotFoundError:
        return b""
    except OSError:
        return None
