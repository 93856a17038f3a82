"""Jinja as templates use it: the options, and where compiled templates come from.

A wheel of opgen brings every template compiled to Python (`compile_templates`, called by `hatch_build.py`). Elsewhere, and
with another Jinja than the wheel was built with, templates are compiled when they are first used, and the bytecode is
kept beside the bytecode of this module, as Python does for modules: not with `python -B`, and not where the folder is
read-only.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from opgen.io.files import replace_file


class _Environment(jinja2.Environment):
    # Templates read attributes and nothing else. Jinja's own lookup would go on with items, and return an undefined
    # value for a missing attribute; this raises AttributeError, and is faster.
    getattr = staticmethod(getattr)  # type: ignore[assignment]


def make_environment(folders: Sequence[Path], compiled: Path | None = None) -> jinja2.Environment:
    """Return the environment of the templates in `folders`; the first folder that has a template counts.

    `compiled` is the folder that `compile_templates` filled for templates that include all of `folders`, if there is
    one.
    """
    loaders: list[jinja2.BaseLoader] = [jinja2.FileSystemLoader(folders)]
    if compiled is not None:
        ready = [compiled / _module_folder(folder) for folder in folders]
        if ready[0].is_dir():
            loaders.insert(0, jinja2.ModuleLoader(ready))
    environment = _Environment(
        loader=jinja2.ChoiceLoader(loaders),
        bytecode_cache=_BytecodeCache(),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    # A template knows no other name than `file`.
    environment.globals.clear()
    environment.filters.clear()
    environment.tests.clear()
    return environment


def compile_templates(folders: Iterable[Path], target: Path) -> None:
    """Compile the templates in `folders` to Python modules below `target`. Raises jinja2.TemplateSyntaxError."""
    for folder in folders:
        to = target / _module_folder(folder)
        make_environment([folder]).compile_templates(to, ["j2"], zip=None, ignore_errors=False)


def _module_folder(folder: Path) -> str:
    """Return the folder of modules that this version of Jinja compiled; other versions may not run them."""
    return f"{folder.parent.name}-{folder.name}-{jinja_version()}"


def jinja_version() -> str:
    # Jinja 3.1 has a constant.
    found = vars(jinja2).get("__version__")
    return str(found or importlib.import_module("importlib.metadata").version("jinja2"))


class _BytecodeCache(jinja2.BytecodeCache):
    """Keeps the bytecode of templates where Python keeps that of this module.

    Jinja's FileSystemBytecodeCache fails where it cannot write, and ignores `python -B`.
    """

    def __init__(self) -> None:
        self._folder = os.path.dirname(importlib.util.cache_from_source(__file__))

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        path = hashlib.sha256(os.fsencode(filename or name)).hexdigest()[:40]
        return f"template-{path}.{sys.implementation.cache_tag}"

    def get_source_checksum(self, source: str) -> str:
        return hashlib.sha256(f"{jinja_version()}\n{source}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        try:
            with open(os.path.join(self._folder, bucket.key), "rb") as file:
                bucket.load_bytecode(file)
        except Exception:
            # A missing or damaged file: unpickling may raise anything.
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                replace_file(os.path.join(self._folder, bucket.key), bucket.bytecode_to_string())
