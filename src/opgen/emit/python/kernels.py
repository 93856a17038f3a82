"""Skeletons of the kernels that authors write in Python: rows `python` of dispatch tables."""

from __future__ import annotations

from opgen.emit.common.base import GeneratedFile, Record
from opgen.emit.common.context import Context
from opgen.model.native_function import KernelSource
from opgen.python.operator_calls import operator_call


class PythonKernel(Record, frozen=True):
    """The keys of one Python function, each as PyTorch spells it, its name and its signature after the name."""

    operator: str
    keys: tuple[str, ...]
    declaration: str


class PythonSkeletonsFile(GeneratedFile, frozen=True):
    functions: tuple[PythonKernel, ...]


def build_python_skeletons(context: Context, operators: frozenset[str]) -> PythonSkeletonsFile:
    """Return the text of an ops.py with an empty function for every operator of `operators` with rows `python`."""
    words = context.target.call_words
    functions = []
    for f in context.registry.functions:
        keys = [k.name for k, kernel in f.dispatch if kernel.source is KernelSource.python]
        if keys and words is not None and f.full_name in operators:
            declaration = operator_call(f, words).help_text()
            functions.append(PythonKernel(f.full_name, tuple(keys), declaration))
    return PythonSkeletonsFile("", "skeletons.py.j2", tuple(functions))
