"""Small schema files for comparing verdicts: real entries with changes, and entries composed of parts.

`draw_file(n)` is the same file in every run. Most files have one mistake or none: a file with many mistakes is
rejected by both tools, which shows little.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Draw = random.Random

_TYPES = (
    *(
        "Tensor",
        "Tensor?",
        "Tensor[]",
        "Tensor?[]",
        "Tensor[]?",
        "Tensor[2]",
        "int",
        "int?",
        "int[]",
    ),
    *(
        "int[2]",
        "int[]?",
        "SymInt",
        "SymInt?",
        "SymInt[]",
        "SymInt[1]",
        "SymInt[]?",
        "float",
        "float?",
    ),
    *(
        "float[]?",
        "bool",
        "bool?",
        "bool[3]",
        "str",
        "str?",
        "Scalar",
        "Scalar?",
        "Scalar[]",
        "Device",
    ),
    *("Device?", "Layout?", "ScalarType", "ScalarType?", "MemoryFormat?", "Generator?", "Storage"),
    *("Stream", "QScheme", "SymBool", "DeviceIndex", "DimVector", "bool[]", "SymInt?[]", "int[][]"),
    *("__torch__.torch.classes.quantized.Packed", "GraphModule", "Tensr", "Dimname", "int??"),
)
_COMMON_TYPES = _TYPES[:1] * 6 + (
    "int",
    "float",
    "bool",
    "Scalar",
    "SymInt",
    "int[]",
    "SymInt[]",
    "Tensor?",
)
_DEFAULTS = (
    *("None", "0", "1", "-1", "0.5", "1e-05", "True", "False", "[]", "[0,1]", "'a'", '"b"', "Mean"),
    *("contiguous_format", "long", "hello", "[0, 1]", ""),
)
_NAMES = (
    "self",
    "other",
    "x",
    "dim",
    "size",
    "alpha",
    "out",
    "weight",
    "namespace",
    "lambda",
    "options",
)
_KEYS = (
    *("CPU", "CUDA", "Meta", "SparseCPU", "MPS", "XPU", "MTIA", "QuantizedCPU", "NestedTensorCPU"),
    *(
        "CompositeImplicitAutograd",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
    ),
    *("CompositeImplicitAutogradNestedTensor", "ZeroTensor", "XLA", "CPUU", "AutogradCPU"),
)
_TAGS = (
    "core",
    "pointwise",
    "view_copy",
    "inplace_view",
    "nondeterministic_seeded",
    "generated",
    "bogus",
    "out",
)
_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


@dataclass(frozen=True)
class Entry:
    """The lines of one entry, the first without `- `."""

    lines: tuple[str, ...]

    @property
    def schema(self) -> str:
        return self.lines[0].removeprefix("func: ")

    @property
    def root(self) -> str:
        return re.split(r"[.(]", self.schema, maxsplit=1)[0].strip("_")

    def with_schema(self, schema: str) -> Entry:
        return Entry((f"func: {schema}", *self.lines[1:]))

    def __str__(self) -> str:
        return "- " + "\n  ".join(self.lines)


def file_text(entries: Sequence[Entry]) -> str:
    return "".join(f"{entry}\n\n" for entry in entries) or "[]\n"


def draw_file(number: int, real: Path) -> str:
    """Return the file of this number; `real` is the native_functions.yaml whose entries are changed."""
    draw = Draw(f"opgen {number}")
    made = number % 2 == 0
    entries = _made_up(draw) if made else list(draw.choice(_families(real)))
    for _ in range(draw.choice((0, 0, 1, 1, 1, 2))):
        entries = draw.choice(_CHANGES)(entries, draw) or entries
    text = file_text(entries)
    return _change_a_character(text, draw) if draw.random() < 0.1 else text


@cache
def _families(real: Path) -> tuple[tuple[Entry, ...], ...]:
    """Return the entries that belong together, by name, including copies of views, and delegates."""
    text = real.read_text(encoding="utf-8")
    blocks = re.findall(r"^- (func: .*\n(?:(?:  .*)?\n|#.*\n)*)", text, re.M)
    families: dict[str, list[Entry]] = defaultdict(list)
    for block in blocks:
        kept = (re.sub(r"\s+#.*", "", line).rstrip() for line in block.splitlines())
        lines = [line.removeprefix("  ") for line in kept if line.strip() and line[0] != "#"]
        entry = Entry(tuple(line for line in lines if not line.startswith("#")))
        root = re.sub(r"_(copy|scatter|inverse|functional)$", "", entry.root)
        families[root].append(entry)
    return tuple(tuple(family) for family in families.values() if len(family) <= 8)


# Entries composed of parts


def _made_up(draw: Draw) -> list[Entry]:
    makers = (
        _alone,
        _alone,
        _trio,
        _trio,
        _structured,
        _structured,
        _view,
        _mutable,
        _factory,
        _ufunc,
    )
    return [
        e for _ in range(draw.choice((1, 1, 2))) for e in draw.choice(makers)(_name(draw), draw)
    ]


def _name(draw: Draw) -> str:
    return draw.choice(
        ("foo", "bar", "foo_bar", "b") * 4 + ("_foreach_foo", "foorand", "foo_like", "new_foo")
    )


def _argument(draw: Draw, name: str) -> str:
    type = draw.choice(_COMMON_TYPES if draw.random() < 0.8 else _TYPES)
    return f"{type} {name}"


def _arguments(draw: Draw, first: str = "Tensor self") -> str:
    names = draw.sample(("x", "y", "dim", "size", "weight"), draw.randrange(4))
    found = [first] + [_argument(draw, name) for name in names]
    if names and draw.random() < 0.2:
        found[-1] += f"={draw.choice(_DEFAULTS)}"
    if names and draw.random() < 0.2:
        found.insert(-1, "*")
    return ", ".join(found)


def _tail(arguments: str) -> str:
    return "" if "*" in arguments else ", *"


def _dispatch(draw: Draw, kernel: str) -> tuple[str, ...]:
    keys = draw.sample(_KEYS[:3] if draw.random() < 0.85 else _KEYS, draw.randrange(1, 3))
    suffix = draw.choice(("",) * 9 + ("_symint",))
    return ("dispatch:", *(f"  {key}: {kernel}_{key.lower()}{suffix}" for key in keys))


def _rest(draw: Draw) -> tuple[str, ...]:
    extra = (
        "variants: method",
        "variants: function, method",
        "device_check: NoCheck",
        "device_guard: False",
        "manual_cpp_binding: True",
        "python_module: nn",
        "category_override: factory",
        f"tags: {draw.choice(_TAGS)}",
        f"tags: [{draw.choice(_TAGS)}, core]",
        "use_const_ref_for_mutable_tensors: True",
        "cpp_no_default_args: ['x']",
    )
    return (draw.choice(extra),) if draw.random() < 0.15 else ()


def _alone(name: str, draw: Draw) -> list[Entry]:
    names = draw.sample(_NAMES, draw.randrange(1, 4))
    arguments = ", ".join(_argument(draw, n) for n in names)
    returns = draw.choice(
        ("Tensor", "Tensor", "(Tensor, Tensor)", "int", "()", "Tensor[]", "(Tensor a, Tensor b)")
    )
    returns = draw.choice(_TYPES) if draw.random() < 0.1 else returns
    dispatch = _dispatch(draw, name) if draw.random() < 0.6 else ()
    return [Entry((f"func: {name}({arguments}) -> {returns}", *dispatch, *_rest(draw)))]


def _trio(name: str, draw: Draw) -> list[Entry]:
    arguments = _arguments(draw)
    written = arguments.replace("Tensor self", "Tensor(a!) self", 1)
    out = f"{arguments}{_tail(arguments)}, Tensor(a!) out"
    kept = draw.choice(((0, 1, 2), (0, 1), (0, 2), (0,), (1,), (1, 2), (2,)))
    missing = [n for i, n in ((0, name), (2, f"{name}.out")) if i not in kept]
    asked = (f"autogen: {', '.join(missing)}",) if missing and draw.random() < 0.9 else ()
    every = [
        Entry((f"func: {name}({arguments}) -> Tensor", *_dispatch(draw, name), *_rest(draw))),
        Entry(
            (f"func: {name}_({written}) -> Tensor(a!)", *_dispatch(draw, f"{name}_"), *_rest(draw))
        ),
        Entry((f"func: {name}.out({out}) -> Tensor(a!)", *_dispatch(draw, f"{name}_out"))),
    ]
    first, *others = (every[i] for i in kept)
    return [Entry((*first.lines, *asked)), *others]


def _structured(name: str, draw: Draw) -> list[Entry]:
    arguments = _arguments(draw)
    written = arguments.replace("Tensor self", "Tensor(a!) self", 1)
    out = f"{arguments}{_tail(arguments)}, Tensor(a!) out"
    inherits = draw.choice(((), ("structured_inherits: TensorIteratorBase",)))
    precomputed = draw.choice(((), (), ("precomputed:", "- dim -> int dim, int end", "- int more")))
    every = [
        Entry(
            (
                f"func: {name}({arguments}) -> Tensor",
                f"structured_delegate: {name}.out",
                *_rest(draw),
            )
        ),
        Entry((f"func: {name}_({written}) -> Tensor(a!)", f"structured_delegate: {name}.out")),
        Entry(
            (
                f"func: {name}.out({out}) -> Tensor(a!)",
                *("structured: True", *inherits, *precomputed, *_dispatch(draw, f"{name}_out")),
            )
        ),
    ]
    return [e for i, e in enumerate(every) if i == 2 or draw.random() < 0.85]


def _view(name: str, draw: Draw) -> list[Entry]:
    arguments = _arguments(draw, "Tensor(a) self")
    plain = arguments.replace("(a)", "")
    many = draw.choice(("", "", "[]"))
    key = draw.choice(("CompositeExplicitAutogradNonFunctional",) * 4 + ("CPU",))
    tags = draw.choice((("tags: view_copy",),) * 5 + ((),))
    ending = draw.choice(("_copy",) * 6 + ("_scatter",))
    every = [
        Entry(
            (f"func: {name}({arguments}) -> Tensor(a){many}", *_dispatch(draw, name), *_rest(draw))
        ),
        Entry(
            (
                f"func: {name}{ending}({plain}) -> Tensor{many}",
                *("dispatch:", f"  {key}: {name}_copy", *tags, f"autogen: {name}_copy.out"),
            )
        ),
        Entry(
            (
                f"func: {name}_({arguments.replace('(a)', '(a!)')}) -> Tensor(a!)",
                *(*_dispatch(draw, f"{name}_"), "tags: inplace_view"),
            )
        ),
    ]
    return every[: draw.choice((1, 2, 2, 2, 3))]


def _mutable(name: str, draw: Draw) -> list[Entry]:
    letters = draw.choice(("ab", "ba", "bc"))
    arguments = f"Tensor self, Tensor({letters[0]}!) x, Tensor({letters[1]}!) y"
    returns = draw.choice(("Tensor", "(Tensor, Tensor)", "()"))
    autogen = f"autogen: {name}_functional, {name}.out"
    return [Entry((f"func: {name}({arguments}) -> {returns}", *_dispatch(draw, name), autogen))]


def _factory(name: str, draw: Draw) -> list[Entry]:
    first = draw.choice(("SymInt[] size", "int n", "Tensor self", "Scalar end"))
    autogen = draw.choice(((), (f"autogen: {name}.out",)))
    return [
        Entry((f"func: {name}({first}, *, {_OPTIONS}) -> Tensor", *_dispatch(draw, name), *autogen))
    ]


def _ufunc(name: str, draw: Draw) -> list[Entry]:
    arguments = draw.choice(
        (
            "Tensor self, Tensor other, *, Scalar alpha=1",
            "Tensor self, *, Scalar alpha=1",
            "Tensor self, int dim, *",
        )
    )
    keys = draw.sample(
        ("Generic", "ScalarOnly", "CPUScalar", "CPUVector", "CUDAFunctor", "CUDAFunctorOnSelf"),
        draw.randrange(1, 4),
    )
    loops = [
        f"  {k}: {draw.choice(('one', 'one', 'two'))} ({draw.choice(('All', 'Bool', 'Float, Half'))})"
        for k in keys
    ]
    functional = arguments.removesuffix(", *")
    return [
        Entry((f"func: {name}({functional}) -> Tensor", f"structured_delegate: {name}.out")),
        Entry(
            (
                f"func: {name}.out({arguments}, Tensor(a!) out) -> Tensor(a!)",
                *("structured: True", "structured_inherits: TensorIteratorBase"),
                *("ufunc_inner_loop:", *loops),
            )
        ),
    ]


# Changes of files. Each returns None if it does not apply.

_Change = Callable[[list[Entry], Draw], "list[Entry] | None"]


def _at(entries: list[Entry], index: int, entry: Entry) -> list[Entry]:
    return [*entries[:index], entry, *entries[index + 1 :]]


def _edit(
    entries: list[Entry], draw: Draw, pattern: str, words: Sequence[str]
) -> list[Entry] | None:
    """Replace one match of `pattern` in one schema by another word."""
    index = draw.randrange(len(entries))
    found = list(re.finditer(pattern, entries[index].schema))
    if not found:
        return None
    match, schema = draw.choice(found), entries[index].schema
    text = schema[: match.start()] + draw.choice(words) + schema[match.end() :]
    return _at(entries, index, entries[index].with_schema(text))


def _another_type(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return _edit(
        entries,
        draw,
        r"(?<=[(, ])[A-Z][A-Za-z]+[?\[\]0-9]*(?= )|\b(int|bool|float)[?\[\]0-9]*",
        _TYPES,
    )


def _another_name(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return _edit(entries, draw, r"(?<= )[a-z_]+(?=[,)=])", _NAMES)


def _another_default(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    words = [f"={text}" for text in _DEFAULTS]
    return _edit(entries, draw, r"=[^,)]*|(?<=[a-z])(?=,)", words)


def _another_annotation(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    words = ("(a!)", "(b!)", "(a)", "", "(a -> *)", "(a|b)", "(b)", "(a!)[]")
    return _edit(entries, draw, r"\([a-z][^ ,)]*\)|(?<=Tensor)(?= )", words)


def _another_return(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    words = (
        *(
            "Tensor",
            "(Tensor, Tensor)",
            "()",
            "Tensor(a!)",
            "Tensor(a)",
            "Tensor[]",
            "int",
            "Tensor x",
        ),
        "Tensor?",
    )
    return _edit(entries, draw, r"(?<= -> ).*$", words)


def _another_overload(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return _edit(
        entries,
        draw,
        r"^\w*(\.\w+)?(?=\()",
        ("foo", "foo.out", "foo.Tensor", "foo_", "foo_copy", "a::foo"),
    )


def _another_mark(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return _edit(entries, draw, r", \*(?=,)|(?<=,)", ("", " *,", ", *"))


def _without_entry(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    index = draw.randrange(len(entries))
    return entries[:index] + entries[index + 1 :] if len(entries) > 1 else None


def _twice(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return [*entries, draw.choice(entries)]


def _otherwise_ordered(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    return draw.sample(entries, len(entries))


def _without_line(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    index = draw.randrange(len(entries))
    lines = list(entries[index].lines)
    if len(lines) == 1:
        return None
    del lines[draw.randrange(1, len(lines))]
    return _at(entries, index, Entry(tuple(lines)))


def _with_key(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    index = draw.randrange(len(entries))
    name = entries[index].schema.partition("(")[0]
    line = draw.choice(
        (
            *(
                "structured: True",
                "structured: 'True'",
                f"structured_delegate: {name}.out",
                "tags: []",
            ),
            *(
                f"tags: {draw.choice(_TAGS)}",
                f"autogen: {name}.out",
                f"autogen: {name}_functional, {name}_out",
            ),
            *("variants: function, method", "variants: method", "manual_kernel_registration: True"),
            *("device_guard: False", "device_check: NoCheck", "device_check: nocheck", "bogus: 1"),
            *("python_module: linalg", "category_override: factory", "structured_inherits: Foo"),
            *(
                "cpp_no_default_args: ['dim']",
                "use_const_ref_for_mutable_tensors: True",
                "variants: functional",
            ),
            *(
                "dispatch: {}",
                "dispatch:",
                "precomputed: []",
                "ufunc_inner_loop: foo (All)",
                "autogen: ''",
            ),
            *("manual_cpp_binding: True", "python_module: ''", "device_check:"),
        )
    )
    key = line.partition(":")[0]
    if any(old.startswith(f"{key}:") for old in entries[index].lines):
        return None
    return _at(entries, index, Entry((*entries[index].lines, line)))


def _another_row(entries: list[Entry], draw: Draw) -> list[Entry] | None:
    """Replace a key or kernel in a dispatch table, or add a row."""
    index = draw.randrange(len(entries))
    lines = list(entries[index].lines)
    if "dispatch:" not in lines:
        return None
    first = lines.index("dispatch:") + 1
    kernel = draw.choice(
        ("foo_kernel", "a::foo", "foo_symint", "at::foo", "a::b::foo", "a::b::c::foo")
    )
    row = f"  {draw.choice(_KEYS)}: {kernel}"
    if draw.random() < 0.5 and first < len(lines):
        lines[first] = row
    else:
        lines.insert(first, row)
    return _at(entries, index, Entry(tuple(lines)))


def _change_a_character(text: str, draw: Draw) -> str:
    place = draw.randrange(len(text))
    new = draw.choice(
        ("", "", " ", ",", "(", ")", "?", "!", "_", ".", ":", "a", "-", "*", "=", "[", "'", "\n")
    )
    return text[:place] + new + text[place + 1 :]


_CHANGES: tuple[_Change, ...] = (
    *(_another_type, _another_name, _another_default, _another_annotation, _another_return),
    *(_another_overload, _another_mark, _without_entry, _twice, _otherwise_ordered, _without_line),
    *(_with_key, _with_key, _with_key, _another_row, _another_row),
)
