"""A Python package for operators that PyTorch already makes callable (torch.ops): their names, with types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from keyword import iskeyword
from textwrap import indent

from opgen.emit.common.base import GeneratedFile, copied_modules, generated, group_by
from opgen.emit.common.context import Context
from opgen.emit.cpp.operators import is_hidden
from opgen.model.native_function import EffectType, KernelSource, NativeFunction
from opgen.parse.entries.keys import EXTRA_NAMES
from opgen.python.layout import docstring, without_docstrings
from opgen.python.operator_calls import OperatorCall, merged_call, operator_call, reachable_calls
from opgen.python.python_types import AnnotationNames
from opgen.resolve.functional_forms import with_words
from opgen.targets.base import FileKind

_WORD = re.compile(r"\b_\w+")
# The names of classes in the stub begin with this: operators have other names.
_CLASS = "_Op_"
# Attributes that every operator of torch.ops has, so an overload of that name is not one.
_ATTRIBUTES = frozenset({"op", "op_overloads", "overloads"})


def build_python_functions(context: Context) -> Iterator[GeneratedFile]:
    """Build python/<library>: __init__.py, a stub, py.typed, and the modules that every package has, as _loading.py."""
    library = context.library.name
    kept = [f for f in context.registry.functions if context.keeps(f)]
    namespaces = sorted({f.namespace for f in kept})
    namespace = namespaces[0] if len(namespaces) == 1 else library
    named = group_by((f for f in kept if f.namespace == namespace), lambda f: str(f.func.name.name))
    # The operators whose names are valid in Python, overloads in the order of their entries.
    functions = {name: named[name] for name in sorted(named) if not iskeyword(name)}
    fakes = []
    for f in (f for f in kept if f.fake):
        # Attributes of torch.ops may have any name, parameters may not.
        arguments = [a.name for a in f.func.arguments.flat_all if not iskeyword(a.name)]
        parameters = [*(n for n in EXTRA_NAMES if n not in arguments), *arguments]
        fakes.append((_overload(f), ", ".join(parameters), f.fake))
    folder = f"python/{library}"
    yield generated(
        path=f"{folder}/__init__.py",
        template="functions.py.j2",
        library=library,
        namespace=namespace,
        others=tuple(one for one in namespaces if one != namespace),
        names=tuple(functions),
        registers=FileKind.PYTHON_REGISTRATIONS in context.target.plan.kinds,
        fakes=tuple(fakes),
        ordered=tuple(
            _overload(with_words(f) if is_hidden(context, f) else f)
            for f in kept
            if f.effects is EffectType.ordered
        ),
        python_rows=tuple(
            (f.full_name, key.name)
            for f in kept
            for key, kernel in f.dispatch
            if kernel.source is KernelSource.python
        ),
    )
    yield from copied_modules(f"{context.target.plan.templates[0]}/package", folder)
    words = context.target.call_words
    assert words is not None
    if functions:
        yield _signatures(words, library, namespace, functions)
    title = f"Library {library}, for type checkers and editors."
    own = [text for name, found in functions.items() for text in _operator(name, found, words)]
    parts = (*_imports(words, own), *own)
    yield generated(f"{folder}/__init__.pyi", "stub.pyi.j2", title=title, parts=parts)
    yield generated(f"{folder}/py.typed", "py.typed.j2", title="", parts=())


def _overload(f: NativeFunction) -> str:
    """Return the overload's path under torch.ops."""
    name = f.func.name
    return f"{f.namespace}.{name.name}.{name.overload_name or 'default'}"


def _signatures(
    words: AnnotationNames,
    library: str,
    namespace: str,
    functions: dict[str, list[NativeFunction]],
) -> GeneratedFile:
    """Build _signatures.py, from which `inspect` and `help()` know the operators."""
    # The arguments of the decorator, `"plus", "default"`, and a function with the signature and documentation.
    objects: list[tuple[str, str]] = []
    for name, found in functions.items():
        calls = [(f, operator_call(f, words)) for f in found]
        merged = merged_call([call for _, call in calls]).declaration(_help(calls), "_")
        objects.append((f'"{name}"', merged.rstrip("\n")))
        for f, call in calls:
            overload = _overload_name(f)
            if overload is not None:
                text = call.declaration(_help([(f, call)]), "_").rstrip("\n")
                objects.append((f'"{name}", "{overload}"', text))
    return generated(
        f"python/{library}/_signatures.py",
        "signatures.py.j2",
        library=library,
        namespace=namespace,
        imports=tuple(_imports(words, [function for _, function in objects])),
        objects=tuple(objects),
    )


def _help(calls: Sequence[tuple[NativeFunction, OperatorCall]]) -> str:
    """Return the signature of each overload, and the author's documentation: below them if it is the same for all."""
    docs = {f.doc for f, _ in calls}
    if len(docs) == 1:
        lines = [call.help_text() for _, call in calls]
        doc = docs.pop()
        return "\n".join(lines if doc is None else [*lines, "", doc])
    texts = (
        call.help_text() + ("" if f.doc is None else f"\n{indent(f.doc, '    ')}")
        for f, call in calls
    )
    return "\n".join(texts)


def _overload_name(f: NativeFunction) -> str | None:
    """Return the attribute of the operator that is this overload; None if there is no such attribute."""
    name = f.func.name.overload_name or "default"
    is_hidden = iskeyword(name) or name.startswith("_") or name in _ATTRIBUTES
    return None if is_hidden else name


def _imports(words: AnnotationNames, parts: Iterable[str]) -> Iterator[str]:
    """Yield the imports that the declarations `parts` need, in groups with a blank line before each."""
    used = {word for part in parts for word in _WORD.findall(without_docstrings(part))}
    for group in words.imports:
        lines = [line for word, line in group.items() if word in used]
        if lines:
            yield "\n".join(["", *lines])


def _operator(
    name: str, functions: Sequence[NativeFunction], words: AnnotationNames
) -> Iterator[str]:
    """Yield an operator of torch.ops: an object with an attribute for each overload."""
    calls = reachable_calls(functions, words)
    lines = [f"\n@_type_check_only\nclass {_CLASS}{name}(_OpOverloadPacket):"]
    attributes = []
    for f in functions:
        overload = _overload_name(f)
        if overload is not None:
            method = operator_call(f, words).method(f.doc).rstrip("\n")
            class_name = f"_Overload_{overload}"
            lines.append(f"    @_type_check_only\n    class {class_name}(_OpOverload):")
            lines.append(f"{indent(method, 2 * '    ')}\n")
            text = _help([(f, operator_call(f, words))])
            attributes.append(f"    {overload}: {class_name}\n{docstring(text, indent=4)}")
    lines += attributes
    mark = "@_overload\n" if len(calls) > 1 else ""
    methods = "\n".join(f"{mark}{call.method(f.doc)}" for f, call in calls)
    lines.append(indent(methods.rstrip("\n"), "    "))
    doc = docstring(_help([(f, operator_call(f, words)) for f in functions]), indent=0)
    yield "\n".join([*lines, "", f"{name}: {_CLASS}{name}", doc])
