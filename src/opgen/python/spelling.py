"""The parts of Python signatures and stubs that differ between targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from opgen.model.types import BaseTy, Type


class PythonSpelling(Struct, frozen=True):
    """The spelling of Python signatures.

    `string`, `array` and `optional_tensors` are the argument parser's names for str, a list of bool with a size, and
    `Tensor?[]`. `return_types` is the module of named tuples. `stub_defaults` maps C++ defaults to those in stubs.
    `argument_annotation` and `return_annotation` translate types, and raise NoPythonSignature. `display_names` maps
    names in annotations to those for help texts. `declare` writes a function of a stub: its name, arguments and returns.
    """

    string: str
    array: str
    optional_tensors: str
    return_types: str
    stub_defaults: tuple[tuple[str, str], ...]
    argument_annotation: Callable[[Type], str]
    return_annotation: Callable[[Type], str]
    display_names: Mapping[str, str]
    declare: Callable[[str, Sequence[str], str], str]


class AnnotationNames(Struct, frozen=True):
    """The names of a framework's types in annotations: of `arguments`, and of `returns` if they differ.

    `imports` maps these names to their import statements, those of Python's own modules first. The names begin with an
    underscore because operators may have names such as int.
    """

    arguments: Mapping[BaseTy, str]
    returns: Mapping[BaseTy, str]
    imports: tuple[Mapping[str, str], ...]
