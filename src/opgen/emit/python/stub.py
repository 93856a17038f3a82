"""The stubs of a package (.pyi), for type checkers and editors, and its named tuples.

There is one class Tensor in a process, and all libraries add methods to it. A stub shows only the members that every
tensor has and the methods of this library. If the library extends another one, its stub imports the classes from the
other's stub, as its C++ uses the other's class Tensor.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from keyword import iskeyword
from textwrap import indent

from opgen.emit.common.base import GeneratedFile, generated, group_by
from opgen.emit.common.context import Context
from opgen.emit.python.calls import PythonCalls, free_exports, parts_of
from opgen.model.native_function import NativeFunction
from opgen.python.layout import (
    Declaration,
    package_declarations,
    package_imports,
    with_docstring,
    without_docstrings,
)
from opgen.python.operator_calls import OperatorCall, Parameter
from opgen.python.signatures import PythonArgument, PythonFunction, PythonOverload, PythonSignature

# Tags for compilers and tests, without information for callers.
_NOT_TOLD = frozenset(
    {
        "core",
        "cudagraph_unsafe",
        "flexible_layout",
        "generated",
        "inplace",
        "maybe_aliasing_or_mutating",
        "needs_contiguous_strides",
        "needs_exact_strides",
        "needs_fixed_stride_order",
        "out",
        "out_variant",
        "pointwise",
        "pt2_compliant_tag",
        "reduction",
    }
)


def documentation(o: PythonOverload) -> str | None:
    """Return the author's documentation of an overload: that of its operator, or else that of the out variant."""
    return o.base.doc or (None if o.out is None else o.out.doc)


def facts(o: PythonOverload, calls: PythonCalls) -> Iterator[str]:
    """Yield one line for each schema, with notes about the operator below it."""
    for f in filter(None, (o.base, o.out)):
        yield f"{f.namespace}::{f.func}"
        yield f"    {'; '.join(_facts(f, calls))}"


def _facts(f: NativeFunction, calls: PythonCalls) -> Iterator[str]:
    variants = " and ".join(sorted(v.name for v in f.variants))
    yield "called with out=" if f.func.is_out_fn() else variants
    keys = calls.backends.get(f.full_name)
    yield f"kernels for {', '.join(keys)}" if keys else "no kernel"
    written = f.func.arguments.mutable_arg_names
    if not f.func.is_out_fn() and (f.is_view_op or written):
        yield "returns a view" if f.is_view_op else f"writes {', '.join(written)}"
    tags = sorted(f.tags - _NOT_TOLD)
    if tags:
        yield f"tags {', '.join(tags)}"


# The methods that implement Python's operators, as runtime/python/src/number.cpp finds them, with Python's names for
# a tensor on the left and on the right.
_BINARY = {
    "add": ("__add__", "__radd__"),
    "sub": ("__sub__", "__rsub__"),
    "mul": ("__mul__", "__rmul__"),
    "div": ("__truediv__", "__rtruediv__"),
    "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("__mod__", "__rmod__"),
    "pow": ("__pow__", "__rpow__"),
    "matmul": ("__matmul__", ""),
    "bitwise_and": ("__and__", "__rand__"),
    "bitwise_or": ("__or__", "__ror__"),
    "bitwise_xor": ("__xor__", "__rxor__"),
    "bitwise_left_shift": ("__lshift__", "__rlshift__"),
    "bitwise_right_shift": ("__rshift__", "__rrshift__"),
    "add_": ("__iadd__", ""),
    "sub_": ("__isub__", ""),
    "mul_": ("__imul__", ""),
    "div_": ("__itruediv__", ""),
    "bitwise_and_": ("__iand__", ""),
    "bitwise_or_": ("__ior__", ""),
    "floor_divide_": ("__ifloordiv__", ""),
    "remainder_": ("__imod__", ""),
    "bitwise_xor_": ("__ixor__", ""),
    "bitwise_left_shift_": ("__ilshift__", ""),
    "bitwise_right_shift_": ("__irshift__", ""),
    "lt": ("__lt__", ""),
    "le": ("__le__", ""),
    "eq": ("__eq__", ""),
    "ne": ("__ne__", ""),
    "gt": ("__gt__", ""),
    "ge": ("__ge__", ""),
}
_UNARY = {"neg": "__neg__", "abs": "__abs__", "bitwise_not": "__invert__"}
# Class object has these, too, with bool as the return type.
_OBJECTS_OWN = ("__eq__", "__ne__")
_NUMBER = "_Number"


def _functions(functions: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    """Yield `def add(…): …` for each overload; nothing for names that are keywords of Python."""
    for f in functions:
        texts = [] if iskeyword(f.name) else list(_overloads(f, calls))
        mark = "@overload\n" if len(texts) > 1 else ""
        yield from (f"{mark}{text}" for text in texts)


def _overloads(f: PythonFunction, calls: PythonCalls) -> Iterator[str]:
    """Yield the declarations of the overloads of `f`, except those that are never reached because an earlier overload
    accepts all their calls.
    """
    before: list[OperatorCall] = []
    for o in f.overloads:
        signature = calls.signature(o, method=f.method)
        call = _as_call(signature, calls)
        if any(one.includes(call) for one in before):
            continue
        before.append(call)
        doc = documentation(o)
        yield with_docstring(signature.signature_str_pyi(calls.spellings), doc)
        vararg = signature.signature_str_pyi_vararg(calls.spellings)
        if vararg is not None:
            yield with_docstring(vararg, doc)


def _as_call(signature: PythonSignature, calls: PythonCalls) -> OperatorCall:
    parameters = [
        Parameter(a.name, _annotation(a, calls), a.default) for a in signature.arguments()
    ]
    positional = len(signature.input_args)
    return OperatorCall("", tuple(parameters[:positional]), tuple(parameters[positional:]), 0, "")


def _annotation(a: PythonArgument, calls: PythonCalls) -> str:
    return a.annotation or calls.spellings.python.argument_annotation(a.type)


def _dunder_declarations(methods: Iterable[PythonFunction], calls: PythonCalls) -> Iterator[str]:
    """Yield `def __add__(self, other: Tensor, /) -> Tensor: ...`, for the methods that implement Python's operators."""
    by_name = {f.name: f for f in methods}
    for name, (dunder, reflected) in _BINARY.items():
        operands = _operands(by_name[name], calls) if name in by_name else ()
        if operands and dunder not in by_name:
            ignored = "  # type: ignore[override]" if dunder in _OBJECTS_OWN else ""
            yield _dunder(dunder, " | ".join(operands)) + ignored
        if reflected and "Tensor" in operands:
            yield _dunder(reflected, _NUMBER)
    for name, dunder in _UNARY.items():
        if name in by_name:
            yield f"def {dunder}(self) -> Tensor: ..."


def _dunder(name: str, operand: str) -> str:
    # pow(a, b, c) is not supported for tensors, but Python's slot takes three arguments.
    modulus = ", mod: None = None" if name in ("__pow__", "__rpow__") else ""
    return f"def {name}(self, other: {operand}{modulus}, /) -> Tensor: ..."


def _operands(f: PythonFunction, calls: PythonCalls) -> tuple[str, ...]:
    """Return the type of the right operand of a Python operator: the only required argument of the method."""
    found: set[str] = set()
    for o in f.overloads:
        signature = calls.signature(o, method=True)
        required = [a for a in signature.arguments() if a.default is None]
        if len(required) == 1 and required == list(signature.input_args[:1]):
            found.update(_annotation(required[0], calls).split(" | "))
    return tuple(word for word in ("Tensor", _NUMBER) if word in found)


_TENSOR = "Tensor"
_RETURN_TYPES = "return_types"
# Matches uses of a name, and not the names that declarations define: "dtype: …" and "def size(".
_USED = re.compile(r"(?<=-> )[A-Za-z_]\w*|\b[A-Za-z_]\w*\b(?![:(])")
_INDENT = "    "


def build_python_stubs(context: Context, calls: PythonCalls) -> Iterator[GeneratedFile]:
    """Build python/<library>: __init__.pyi, a stub for each submodule, the named tuples, py.typed."""
    name = context.library.name
    classes_of = context.library.extends or name
    functions = group_by((f for f in calls.functions if not f.method), lambda f: f.module or "")
    modules = sorted(module for module in functions if module)
    for module in modules:
        parts = tuple(_functions(functions[module], calls))
        yield _stub(
            name, module, f"Submodule {module} of library {name}.", _with_imports(classes_of, parts)
        )
    if calls.result_classes():
        modules.append(_RETURN_TYPES)
        yield generated(
            f"python/{name}/{_RETURN_TYPES}.py",
            "return_types.py.j2",
            library=name,
            classes=tuple(
                (one.name, " ".join(name for name, _ in one.fields))
                for one in calls.result_classes()
            ),
        )
        classes = tuple(
            line
            for one in calls.result_classes()
            for line in (
                f"\nclass {one.name}(_NamedTuple):",
                *(f"{_INDENT}{name}: {annotation}" for name, annotation in one.fields),
            )
        )
        title = f"The named tuples that library {name} returns."
        yield _stub(name, _RETURN_TYPES, title, _with_imports(classes_of, classes))
    parts = tuple(_functions(functions.get("", ()), calls))
    taken = {f.name for f in calls.functions if not f.method and f.module is None}
    if context.library.extends is None:
        package = _package(calls, modules, parts, taken)
    else:
        # It contains everything in the stub of the extended library, because another library may extend this one.
        exported = {one.name for one in package_declarations()}
        for part in parts_of(calls) if context.library.extends_python else ():
            exported |= {part.name, *free_exports(part, taken)}
        package = _with_imports(context.library.extends, parts, exported, modules)
    yield _stub(name, "__init__", f"Library {name}, for type checkers and editors.", package)
    yield generated(f"python/{name}/py.typed", "py.typed.j2", title="", parts=())


def _stub(library: str, module: str, title: str, parts: Iterable[str]) -> GeneratedFile:
    return generated(
        f"python/{library}/{module}.pyi", "stub.pyi.j2", title=title, parts=tuple(parts)
    )


def _package(
    calls: PythonCalls, modules: list[str], functions: Sequence[str], taken: Collection[str]
) -> Iterator[str]:
    """Yield the lines of __init__.pyi for a library that does not extend another one."""
    parts: list[str] = []
    for one in package_declarations():
        if one.name == _TENSOR:
            parts += _tensor(one, calls)
        elif one.name not in taken:
            parts += [one.text, *(member.text for member in one.members)]
    parts += functions
    yield from _imports(_used(parts))
    own_parts = parts_of(calls)
    yield from _submodules(sorted([*(part.name for part in own_parts), *modules]))
    for part in sorted(own_parts, key=lambda part: part.name):
        names = free_exports(part, taken)
        yield from (f"from .{part.name} import {name} as {name}" for name in names)
    yield from parts


def _tensor(tensor: Declaration, calls: PythonCalls) -> Iterator[str]:
    """Yield class Tensor: the members that it always has, operators of Python, methods."""
    methods = [f for f in calls.functions if f.method]
    taken = {f.name for f in methods}
    yield tensor.text
    yield from (one.text for one in tensor.members if one.name not in taken)
    for text in _dunder_declarations(methods, calls):
        yield indent(text, _INDENT)
    for text in _functions(methods, calls):
        yield indent(text, _INDENT)


def _with_imports(
    library: str, parts: tuple[str, ...], exported: Iterable[str] = (), modules: Iterable[str] = ()
) -> Iterator[str]:
    """Yield `parts` after the imports that they need, from `library` or from the modules from which that imports."""
    words = _used(parts)
    yield from _imports(words)
    given = set(exported)
    lines = [f"{_INDENT}{name} as {name}," for name in sorted(given)]
    used = {one.name for one in package_declarations()} & words
    lines += [f"{_INDENT}{name}," for name in sorted(used - given)]
    if lines:
        yield "\n".join(["", f"from {library} import (", *lines, ")"])
    yield from _submodules(modules)
    if _RETURN_TYPES in words and not modules:
        yield f"\nfrom . import {_RETURN_TYPES}"
    if not parts[:1] or not parts[0].startswith("\n"):
        yield ""
    yield from parts


def _used(parts: Iterable[str]) -> set[str]:
    return {word for part in parts for word in _USED.findall(without_docstrings(part))}


def _imports(used: set[str]) -> Iterator[str]:
    yield from (one.text for one in package_imports() if one.name in used)


def _submodules(modules: Iterable[str]) -> Iterator[str]:
    lines = [f"from . import {module} as {module}" for module in modules]
    if lines:
        yield "\n".join(["", *lines])
