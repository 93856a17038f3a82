"""Run torchgen's other generators in this process: gen_backend_stubs and the selective build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchgen import gen, gen_backend_stubs
from torchgen.selective_build.selector import SelectiveBuilder, combine_selective_builders

_IMPL = re.compile(r'm\.impl\("([^"]+)",\s*TORCH_FN\((\w+)\)\);')
_WRAPPER = re.compile(r"^\S[^\n]* (wrapper_\w+)\([^\n]*\) \{\n(.*?)^\}", re.M | re.S)
_DECLARED = re.compile(r"^static (.*);$", re.M)


@dataclass(frozen=True)
class BackendOutput:
    """The output: the declarations as text, and (key, operator) -> kernel, None for wrappers."""

    declarations: frozenset[str]
    registered: dict[tuple[str, str], str | None]


@contextmanager
def native_functions(folder: Path) -> Iterator[None]:
    """Let gen_backend_stubs read the two files of `folder` in place of PyTorch's."""
    real = gen_backend_stubs.parse_native_yaml

    def parse(_native: str, _tags: str) -> Any:
        gen._GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()
        return real(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))

    gen_backend_stubs.parse_native_yaml = parse
    try:
        yield
    finally:
        gen_backend_stubs.parse_native_yaml = real
        gen._GLOBAL_PARSE_NATIVE_YAML_CACHE.clear()


def run_backend_stubs(text: str, folder: Path, out: Path, impl: str | None = None) -> BackendOutput:
    """Run gen_backend_stubs for a backend YAML and return what it writes to `out`. Passes on any exception."""
    out.mkdir()
    (out / "backend.yaml").write_text(text)
    impl_path = None
    if impl is not None:
        (out / "impl.cpp").write_text(impl)
        impl_path = str(out / "impl.cpp")
    with native_functions(folder):
        gen_backend_stubs.run(str(out / "backend.yaml"), str(out), False, impl_path)
    headers = [path.read_text() for path in out.glob("*NativeFunctions.h")]
    registered: dict[tuple[str, str], str | None] = {}
    for path in out.glob("Register*.cpp"):
        registered.update(_registered(path.stem.removeprefix("Register"), path.read_text()))
    return BackendOutput(frozenset(d for h in headers for d in _DECLARED.findall(h)), registered)


def _registered(key: str, text: str) -> Iterator[tuple[tuple[str, str], str | None]]:
    bodies = {match[1]: match[2] for match in _WRAPPER.finditer(text)}
    for match in _IMPL.finditer(text):
        call = re.search(r"return ((?:\w+::)+\w+)\(", bodies[match[2]])
        yield (key, match[1]), None if call is None else call[1]


def selector(*texts: str) -> Any:
    """Return torchgen's selector of one file, or of several together. Passes on any exception."""
    first, *others = map(SelectiveBuilder.from_yaml_str, texts)
    for other in others:
        first = combine_selective_builders(first, other)
    return first


def legacy_selector(names: set[str]) -> Any:
    return SelectiveBuilder.from_legacy_op_registration_allow_list(names, True, False)
