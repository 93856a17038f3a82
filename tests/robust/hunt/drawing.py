"""Make random plans: a valid input of an operator, and changes of it.

Each change is a function of a `Change`; a plan applies none, one or several. An unchanged plan is a call that PyTorch
accepts in most cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from differential.numerics.check import Checker, _unspecified
from differential.numerics.draw import Refused, _base
from differential.numerics.python_driver import Form, PythonLibrary
from differential.numerics.values import BY_NAME, DTYPES, Dtype, Value, contiguous_strides, elements
from opgen.model.native_function import NativeFunction, Variant
from opgen.model.registry import Registry
from opgen.model.types import BaseTy
from opgen.python.check import is_bound
from robust.hunt.plans import LARGEST_BUFFER, Buffer, Place, Plan, Ref, placed, refs

# Replacements for ints. Only few sizes between a million and 2**40: they take time and memory, and
# find little.
EXTREMES = (
    *(0, 0, 1, 1, -1, -1, 2, 3, 5, -2, -3, 7, 16, 63, 64, 65, 127, 128, 255, 256, 1000),
    *(2**31 - 1, 2**31, 2**32, 2**32 + 1, -(2**31), -(2**31) - 1, -(2**32)),
    *(2**40, 2**53, 2**60, 2**61 - 1, 2**61, 2**62, 2**63 - 1, -(2**62), -(2**63) + 1, -(2**63)),
)
# Those that overflow in sums and products with others, each once.
FAR = tuple(sorted({number for number in EXTREMES if abs(number) >= 2**31 - 1}))
NUMBERS = (
    *(0, 1, -1, 2, 0.5, -0.0, True, False, 300, -129, 70000, 2**24 + 1, 2**31, 2**32, 2**53 + 1),
    *(-(2**31) - 1, 2**62, 2**63 - 1, -(2**63), 1e-40, 1e39, -1e300, 1e308, 3.7, -3.7),
    *(float("inf"), float("-inf"), float("nan"), 1j, 2 - 3j, complex("nan"), complex(1e300, 1)),
)
# Replacements for any argument.
ODD: tuple[Value, ...] = (
    *(None, "", "mean", 1.5, True, 2**63, 2**64, -(2**63) - 1, (), (1,), 1j, float("nan")),
)

# Arguments that normalisations write, although their schemas do not say so.
_STATISTICS = ("running_mean", "running_var")

# PyTorch's bindings of these are hand-written, and use other names.
_BY_HAND = ("contiguous", "copy_", "nonzero", "to")


@dataclass(frozen=True, slots=True)
class Callable_:
    """One way to call an overload from Python."""

    form: Form
    by_schema: bool


class Drawer:
    """Makes plans for the operators of `registry`."""

    def __init__(self, registry: Registry, torch: Any) -> None:
        self._checker = Checker(None, registry)  # type: ignore[arg-type]
        self._functions = self._checker.functions
        self._torch = torch
        self.ways = {
            name: ways for name, f in self._functions.items() if (ways := list(self._ways(f)))
        }

    @property
    def overloads(self) -> list[str]:
        return list(self.ways)

    def base(self, name: str, dtype: Dtype, seed: int) -> Base | None:
        """Return a valid input; None if this seed has none."""
        try:
            arguments = self._checker.arguments(name, dtype, seed)
        except Refused:
            return None
        if _has_mean(self._functions[name]):
            arguments.setdefault("reduction", 1)
        return Base(self._functions[name], arguments)

    def plan(self, base: Base, random: Random, changes: int) -> Plan:
        change = Change(base, random)
        for _ in range(changes):
            change.any()
        way = random.choice(self.ways[str(base.function.func.name)])
        return change.plan(way)

    def extremes(self, base: Base, random: Random, each: int) -> Iterator[Plan]:
        """Make plans in which one int, alone or in a list, is replaced: for every int, by `each` numbers of FAR."""
        for path in Change(base, random).ints():
            for number in random.sample(FAR, each):
                change = Change(base, random)
                change.set_int(path, number)
                change.notes.append("extreme")
                yield change.plan(random.choice(self.ways[str(base.function.func.name)]))

    def _ways(self, f: NativeFunction) -> Iterator[Callable_]:
        """Return the ways to call it, for both libraries, as PythonLibrary._callable finds them."""
        for form in Form:
            variant = Variant.method if form.is_method else Variant.function
            if form.is_method if f.python_module else variant not in f.variants:
                continue
            if not (is_bound(f) or str(f.func.name.name) in _BY_HAND):
                continue
            yield Callable_(form, not self._in_torch(f, form))

    def _in_torch(self, f: NativeFunction, form: Form) -> bool:
        if str(f.func.name.name) in _BY_HAND:
            return False
        c = self._torch._C
        owner = self._torch.Tensor if form.is_method else c._VariableFunctions
        if f.python_module:
            owner = getattr(c, f"_{f.python_module}", None)
        found = getattr(owner, str(f.func.name.name), None)
        # A Python function around the operator has its own names and rules.
        return found is not None and type(found).__name__ in (
            "builtin_function_or_method",
            "method_descriptor",
        )


class Base:
    """A valid input as buffers, tensors and arguments."""

    def __init__(self, function: NativeFunction, arguments: Mapping[str, Value]) -> None:
        self.drawn = arguments
        self.function = function
        self.buffers: list[Buffer] = []
        self.tensors: list[Place] = []
        self.arguments = {
            key: placed(value, self.buffers, self.tensors) for key, value in arguments.items()
        }


class Change:
    """A copy of a valid input that is being changed."""

    def __init__(self, base: Base, random: Random) -> None:
        self.function = base.function
        self.random = random
        self.buffers = list(base.buffers)
        self.tensors = list(base.tensors)
        self.arguments: dict[str, Value] = dict(base.arguments)
        self.types = {a.name: a for a in base.function.func.arguments.flat_all}
        self.notes: list[str] = []
        self.is_view = any(
            r.annotation is not None and not r.annotation.is_write
            for r in base.function.func.returns
        )

    # The changes.

    def any(self) -> None:
        """Apply one of them; try several if some do not apply."""
        for _ in range(6):
            change = self.random.choices(_CHANGES, _WEIGHTS)[0]
            if change(self):
                self.notes.append(change.__name__)
                return

    def alias(self) -> bool:
        """Place one tensor on the bytes of another: shifted, transposed or unchanged."""
        pair = self._two()
        if pair is None:
            return False
        one, other = pair
        onto, place = self.tensors[one], self.tensors[other]
        is_mixed = self.buffers[onto.buffer].dtype != self.buffers[place.buffer].dtype
        if is_mixed and self.random.random() < 0.8:
            return False
        chosen = self.random.random()
        strides, offset = place.strides, place.offset
        if chosen < 0.3 and place.sizes == onto.sizes:
            strides, offset = onto.strides, onto.offset
        elif chosen < 0.6:
            strides = contiguous_strides(place.sizes)
            offset = self.random.choice((0, 0, 1, 1, 2, 3))
        elif chosen < 0.7:
            strides, offset = contiguous_strides(place.sizes)[::-1], 0
        return self._put(other, replace(place, buffer=onto.buffer, strides=strides, offset=offset))

    def same_object(self) -> bool:
        """Use one tensor twice."""
        every = self._paths()
        if len(every) < 2:
            return False
        one, other = self.random.sample(every, 2)
        self._replace(other, self._at(one))
        return True

    def layout(self) -> bool:
        """Give a tensor other strides or another offset; strides may be zero."""
        number = self._one()
        if number is None:
            return False
        place = self.tensors[number]
        strides = list(place.strides)
        match self.random.randrange(6):
            case 0 if strides:
                strides[self.random.randrange(len(strides))] = 0
            case 1:
                strides = [0] * len(strides)
            case 2:
                self.random.shuffle(strides)
            case 3:
                strides = [s * 2 for s in strides]
            case 4 if strides:
                at = self.random.randrange(len(strides))
                strides[at] = self.random.choice((0, 1, 1, 2, 3, 5, 7))
            case _:
                offset = place.offset + self.random.choice((1, 1, 2, 3, 17))
                return self._put(number, replace(place, offset=offset))
        return self._put(number, replace(place, strides=tuple(strides)))

    def sizes(self) -> bool:
        """Make one size larger, smaller or zero, or far too large with a stride of zero."""
        number = self._one()
        if number is None or not self.tensors[number].sizes:
            return False
        place = self.tensors[number]
        at = self.random.randrange(len(place.sizes))
        sizes, strides = list(place.sizes), list(place.strides)
        match self.random.randrange(5):
            case 0:
                sizes[at] = 0
            case 1:
                sizes[at] = 1
            case 2:
                sizes[at] += 1
            case 3 if self.is_view:
                sizes[at], strides[at] = self.random.choice((2**31, 2**33, 2**40, 2**62)), 0
            case _:
                sizes[at] = self.random.choice((33, 70, 200))
                strides[at] = self.random.choice((0, 1))
        return self._put(number, replace(place, sizes=tuple(sizes), strides=tuple(strides)))

    def dims(self) -> bool:
        """Use fewer or more dimensions, up to 70."""
        number = self._one()
        if number is None:
            return False
        place = self.tensors[number]
        if place.sizes and self.random.random() < 0.4:
            at = self.random.randrange(len(place.sizes))
            sizes = place.sizes[:at] + place.sizes[at + 1 :]
            strides = place.strides[:at] + place.strides[at + 1 :]
            return self._put(number, replace(place, sizes=sizes, strides=strides))
        more = self.random.choice((1, 1, 1, 2, 3, 5, 12, 60, 64, 65, 70))
        more = max(0, min(more, 70 - len(place.sizes)))
        sizes = (1,) * more + place.sizes
        strides = tuple(self.random.choice((0, 1, 7)) for _ in range(more)) + place.strides
        if self.random.random() < 0.3:
            sizes, strides = place.sizes + (1,) * more, place.strides + (1,) * more
        return self._put(number, replace(place, sizes=sizes, strides=strides))

    def dtype(self) -> bool:
        """Read the same bytes as another dtype."""
        number = self._one()
        if number is None:
            return False
        place = self.tensors[number]
        name = self.random.choice(DTYPES).name
        self.buffers.append(self.buffers[place.buffer].as_dtype(name))
        return self._put(number, replace(place, buffer=len(self.buffers) - 1))

    def content(self) -> bool:
        """Fill the elements with arbitrary bits."""
        number = self._one()
        if number is None:
            return False
        place = self.tensors[number]
        buffer = self.buffers[place.buffer]
        content = self.random.randbytes(len(buffer.content))
        self.buffers[place.buffer] = (
            Buffer("uint8", content).as_dtype(buffer.dtype).grown(buffer.count())
        )
        return True

    def element(self) -> bool:
        """Replace an element of a tensor of integers by an extreme number that its dtype has."""
        numbers = [
            ref.tensor
            for ref in refs(tuple(self.arguments.values()))
            if self.buffers[self.tensors[ref.tensor].buffer].dtype in ("int32", "int64")
            and self.buffers[self.tensors[ref.tensor].buffer].content
        ]
        if not numbers:
            return False
        place = self.tensors[self.random.choice(numbers)]
        buffer = self.buffers[place.buffer]
        content = np.frombuffer(buffer.content, buffer.dtype).copy()
        limits = np.iinfo(content.dtype)
        allowed = [n for n in EXTREMES if limits.min <= n <= limits.max]
        content[self.random.randrange(len(content))] = self.random.choice(allowed)
        self.buffers[place.buffer] = Buffer(buffer.dtype, content.tobytes())
        return True

    def ints(self) -> list[tuple[str, int]]:
        """Return where the ints are: the argument's name, and the index in its list or -1."""
        found = []
        for name in self._given(*_INTS):
            value = self.arguments[name]
            places = range(len(value)) if isinstance(value, tuple) else (-1,)
            found += [(name, at) for at in places]
        return found

    def set_int(self, path: tuple[str, int], number: int) -> None:
        self._replace(path, number)

    def number(self) -> bool:
        """Replace an int, or an int in a list, by an extreme number."""
        random, names = self.random, self._given(*_INTS)
        if not names:
            return False
        name = random.choice(names)
        value = self.arguments[name]
        if isinstance(value, tuple) or self.types[name].type.is_list_like():
            items = list(value) if isinstance(value, tuple) else []
            match random.randrange(4):
                case 0 if items:
                    del items[random.randrange(len(items))]
                case 1 if len(items) < 70:
                    more = random.choice((1, 1, 2, 65, 70))
                    items += [items[-1] if items and random.random() < 0.5 else 1] * more
                case 2 if items:
                    items[random.randrange(len(items))] = random.choice(items)
                case _:
                    items = items or [0]
                    items[random.randrange(len(items))] = random.choice(EXTREMES)
            self.arguments[name] = tuple(items)
        elif isinstance(value, int) and random.random() < 0.4:
            self.arguments[name] = value + random.choice((-2, -1, 1, 2))
        else:
            self.arguments[name] = random.choice(EXTREMES)
        return True

    def scalar(self) -> bool:
        """Replace a scalar: by a large number, None, or a number of another kind."""
        return self._change(lambda _: self.random.choice(NUMBERS), BaseTy.Scalar, BaseTy.float)

    def flag(self) -> bool:
        """Replace a bool or a dtype by another."""
        dtypes = (*DTYPES, None)
        if self.random.random() < 0.5:
            return self._change(lambda _: self.random.choice(dtypes), BaseTy.ScalarType)
        return self._change(lambda value: not value, BaseTy.bool)

    def lists(self) -> bool:
        """Change a list of tensors: fewer, more, others, or none."""
        random = self.random
        names = [n for n in self._given(BaseTy.Tensor) if isinstance(self.arguments[n], tuple)]
        if not names:
            return False
        name = random.choice(names)
        items = list(self.arguments[name])
        every = [self._at(path) for path in self._paths()]
        match random.randrange(5):
            case 0 if items:
                del items[random.randrange(len(items))]
            case 1 if every:
                items.insert(random.randrange(len(items) + 1), random.choice(every))
            case 2 if items and every:
                items[random.randrange(len(items))] = random.choice(every)
            case 3:
                items = []
            case _:
                items = items * random.choice((2, 2, 3, 8))
        self.arguments[name] = tuple(items)
        return True

    def out(self) -> bool:
        """Make an output an input, or let it overlap one, have no elements, or have another shape or dtype."""
        random = self.random
        outs = [p for p in self._paths() if p[0] in self._written()]
        if not outs:
            return False
        path = random.choice(outs)
        number = self._at(path).tensor
        place = self.tensors[number]
        buffer = self.buffers[place.buffer]
        chosen = random.randrange(7)
        others = [p for p in self._paths() if p != path]
        if others and chosen in (0, 1, 2, 5):
            other = self._at(random.choice(others))
            onto = self.tensors[other.tensor]
            if chosen == 0:
                self._replace(path, other)
                return True
            if chosen == 5 and place.sizes:
                # An empty output overlapping an input would have to be resized there.
                self._replace_place(path, Place(onto.buffer, (0,), (1,), 0))
                return True
            dtype = self.buffers[onto.buffer].dtype
            if dtype != buffer.dtype and random.random() < 0.7:
                self.notes.append(f"out of {dtype}")
            shift = random.choice((0, 0, 1, 2, 3))
            strides = onto.strides if onto.sizes == place.sizes else contiguous_strides(place.sizes)
            moved = replace(place, strides=strides, offset=onto.offset + shift)
            return self._put(number, replace(moved, buffer=onto.buffer))
        if chosen == 3:
            self.buffers.append(Buffer(buffer.dtype, b""))
            self._replace_place(path, Place(len(self.buffers) - 1, (0,), (1,), 0))
            return True
        if chosen == 4:
            sizes = tuple(random.choice((0, 1, 2, 3, 5)) for _ in range(random.randrange(4)))
            return self._put(number, replace(place, sizes=sizes, strides=contiguous_strides(sizes)))
        self.buffers.append(buffer.as_dtype(random.choice(DTYPES).name))
        return self._put(number, replace(place, buffer=len(self.buffers) - 1))

    def odd(self) -> bool:
        """Pass a value that the argument's type does not allow, or only just allows."""
        if self.arguments:
            self.arguments[self.random.choice(list(self.arguments))] = self.random.choice(ODD)
        return bool(self.arguments)

    def leave_out(self) -> bool:
        """Leave out an argument with a default."""
        names = [n for n, a in self.types.items() if a.default is not None and n in self.arguments]
        if _has_mean(self.function):
            names = [n for n in names if n != "reduction"]
        if not names:
            return False
        del self.arguments[self.random.choice(names)]
        return True

    # Helpers of the changes.

    def _given(self, *types: BaseTy) -> list[str]:
        """Return the arguments of some types that are given, alone or in lists."""
        return [n for n, a in self.types.items() if _base(a.type) in types and n in self.arguments]

    def _change(self, change: Callable[[Value], Value], *types: BaseTy) -> bool:
        """Replace one argument of some types; each item of a list, of which there may be another number."""
        names = self._given(*types)
        if names:
            name = self.random.choice(names)
            value = self.arguments[name]
            if isinstance(value, tuple):
                value = self.random.choice((value, (*value, *value[:1]), value[:-1], ()))
                self.arguments[name] = tuple(map(change, value))
            else:
                self.arguments[name] = change(value)
        return bool(names)

    def _written(self) -> frozenset[str]:
        return frozenset(self.function.func.arguments.mutable_arg_names)

    def _paths(self) -> list[tuple[str, int]]:
        """Return where the tensors are: the argument's name, and the index in its list or -1."""
        found = []
        for name, value in self.arguments.items():
            if isinstance(value, Ref):
                found.append((name, -1))
            elif isinstance(value, tuple):
                found += [(name, i) for i, item in enumerate(value) if isinstance(item, Ref)]
        return found

    def _at(self, path: tuple[str, int]) -> Ref:
        name, at = path
        found = self.arguments[name] if at < 0 else self.arguments[name][at]
        assert isinstance(found, Ref)
        return found

    def _replace(self, path: tuple[str, int], value: Value) -> None:
        name, at = path
        if at < 0:
            self.arguments[name] = value
        else:
            items = list(self.arguments[name])
            items[at] = value
            self.arguments[name] = tuple(items)

    def _replace_place(self, path: tuple[str, int], place: Place) -> None:
        self.tensors.append(place)
        self._replace(path, Ref(len(self.tensors) - 1))

    def _one(self) -> int | None:
        paths = self._paths()
        return self._at(self.random.choice(paths)).tensor if paths else None

    def _two(self) -> tuple[int, int] | None:
        numbers = list({self._at(path).tensor for path in self._paths()})
        if len(numbers) < 2:
            return None
        one, other = self.random.sample(numbers, 2)
        return one, other

    def _put(self, number: int, place: Place) -> bool:
        """Lay out the tensor differently, and extend its buffer if necessary; return False if the buffer would be too
        long."""
        size = BY_NAME[self.buffers[place.buffer].dtype].itemsize
        if place.end() * size > LARGEST_BUFFER:
            return False
        count = elements(place.sizes)
        if count >= 1 << 63 or (count > 1 << 16 and not self.is_view):
            return False
        self.buffers[place.buffer] = self.buffers[place.buffer].grown(place.end())
        self.tensors[number] = place
        return True

    def plan(self, way: Callable_) -> Plan:
        func = self.function.func
        arguments = self._used()
        positional, named = PythonLibrary(None, _NOTHING, way.form)._arranged(func, arguments)  # type: ignore[arg-type]
        written = self._written()
        numbers = [r.tensor for n in (*written, *_STATISTICS) for r in refs(arguments.get(n))]
        owner = "Tensor" if way.form.is_method else self.function.python_module or ""
        return Plan(
            str(func.name),
            owner,
            str(func.name.name),
            tuple(positional),
            tuple(named.items()),
            tuple(self.buffers),
            tuple(self.tensors),
            written,
            tuple(arguments.items()) if way.by_schema else None,
            _unspecified(self.function),
            tuple(self.notes),
            frozenset(numbers),
        )

    def _used(self) -> dict[str, Value]:
        """Return the arguments, after dropping tensors and buffers that none of them uses."""
        used = sorted({ref.tensor for ref in refs(tuple(self.arguments.values()))})
        tensors = [self.tensors[number] for number in used]
        kept = sorted({place.buffer for place in tensors})
        self.buffers = [self.buffers[number] for number in kept]
        self.tensors = [replace(p, buffer=kept.index(p.buffer)) for p in tensors]

        def renamed(value: Value) -> Value:
            if isinstance(value, Ref):
                return Ref(used.index(value.tensor))
            if isinstance(value, tuple):
                return tuple(map(renamed, value))
            return value

        self.arguments = {key: renamed(value) for key, value in self.arguments.items()}
        return dict(self.arguments)


def _has_mean(f: NativeFunction) -> bool:
    """Return whether `f` has the default `reduction=Mean`, which PyTorch's bindings read as 0: it is always given."""
    return any(a.name == "reduction" and a.default == "Mean" for a in f.func.arguments.flat_all)


class _NoRegistry:
    functions = ()


_NOTHING = _NoRegistry()
_INTS = (BaseTy.int, BaseTy.SymInt)
_CHANGES: tuple[Callable[[Change], bool], ...] = (
    *(Change.alias, Change.same_object, Change.layout, Change.sizes, Change.dims, Change.dtype),
    *(Change.content, Change.number, Change.scalar, Change.flag, Change.lists, Change.out),
    *(Change.odd, Change.leave_out, Change.element),
)
_WEIGHTS = (12, 6, 12, 7, 7, 6, 3, 14, 8, 3, 8, 18, 1, 2, 6)
