"""Read torchgen's generated Register<Key>.cpp and RegisterSchema.cpp: which kernels and schemas they register."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# (key, operator) -> kernel or structured class; None if no hand-written function is called.
Registrations = dict[tuple[str, str], str | None]

_LIBRARY = re.compile(r"^TORCH_LIBRARY(?:_FRAGMENT|_IMPL)?\((\w+),\s*(?:(\w+), )?m\)", re.M)
_IMPL = re.compile(r'm\.impl\("([^"]+)",\s*TORCH_FN\((\w+)\)\);')
_DEF = re.compile(r'm\.def\("((?:[^"\\]|\\.)*)", (tags_\d+|\{\})\);')
_TAGS = re.compile(r"const std::vector<at::Tag> (tags_\d+) = \{([^}]*)\};")
_WRAPPER = re.compile(r"^[^\s/#][^\n]* (wrapper_\w+)\([^\n]*\) \{\n(.*?)^\}", re.M | re.S)
_CLASS = re.compile(r"^(structured_\w+?)_(?:functional|inplace|out) op\b", re.M)
_CALL = re.compile(r"\b((?:\w+::)+native::\w+)\(")


def run_torchgen(source: Path, out: Path) -> None:
    """Write torchgen's C++ sources for the folder `source` to `out`, with its default keys."""
    command = [sys.executable, "-m", "torchgen.gen", "-s", str(source), "-d", str(out)]
    # It fails, because a header of a PyTorch checkout is missing; the files needed here have been
    # written by then.
    options = ["--per-operator-headers", "--generate", "sources"]
    subprocess.run([*command, *options], cwd=out, capture_output=True)
    assert (out / "RegisterSchema.cpp").is_file()


def read_registrations(folder: Path) -> Registrations:
    """Return what all Register<Key>.cpp register, except for functionalization."""
    found: Registrations = {}
    for path in sorted(folder.glob("Register*_[0-9]*.cpp")):
        if not path.name.startswith("RegisterFunctionalization"):
            found.update(_registrations(path.read_text(encoding="utf-8")))
    backend_select = (folder / "RegisterBackendSelect.cpp").read_text(encoding="utf-8")
    for match in re.finditer(r'm\.impl\("(\S+?)",', backend_select):
        found["BackendSelect", match[1]] = None
    return found


def _registrations(text: str) -> Iterator[tuple[tuple[str, str], str | None]]:
    wrappers = {match[1]: match[2] for match in _WRAPPER.finditer(text)}
    libraries = list(_LIBRARY.finditer(text))
    ends = [*(library.start() for library in libraries[1:]), len(text)]
    for library, end in zip(libraries, ends):
        for match in _IMPL.finditer(text, library.end(), end):
            operator = f"{library[1]}::{match[1]}"
            yield (library[2], operator), _called(wrappers[match[2]])


def _called(body: str) -> str | None:
    """Return the kernel that a wrapper calls, or the class that it constructs, under opgen's name."""
    made = _CLASS.search(body)
    if made is None:
        call = _CALL.search(body)
        return None if call is None else call[1]
    name = made[1]
    for suffix in ("_meta", "_default_backend"):
        if name.endswith(suffix):
            return f"at::meta::{name.removesuffix(suffix)}"
    return f"at::native::{name}"


def read_schemas(folder: Path) -> dict[str, list[str]]:
    """Return the schemas of all operators in RegisterSchema.cpp, with their tags."""
    text = (folder / "RegisterSchema.cpp").read_text(encoding="utf-8")
    tags = {
        match[1]: match[2].replace("at::Tag::", "").split(", ") for match in _TAGS.finditer(text)
    }
    return {
        re.sub(r"\\(.)", r"\1", match[1]): tags.get(match[2], []) for match in _DEF.finditer(text)
    }
