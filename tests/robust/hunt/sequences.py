"""Hunt in sequences: 20 to 200 calls on a few tensors, their views, and objects that hold their bytes, with garbage
collection between them; they run on our tensors under AddressSanitizer, and on PyTorch's in the same process.

Each call is a line of Python, written to a journal before it is run, so that after a crash the journal is the program.
After every line all tensors must lie in their storages and equal PyTorch's, and held bytes must be readable. Every other
pair of processes records gradients, and registers and removes hooks (`Graphs`).

    python sequences.py PACKAGES ALLOCATOR JOURNAL SEED EXAMPLES     for one process; hypothesis chooses the lines
"""

from __future__ import annotations

import collections
import contextlib
import copy
import ctypes
import gc
import inspect
import json
import os
import pickle
import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import engine
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from robust.hunt.findings import crash_of

MOST_TENSORS = 7
# Less than hypothesis' default of 300: a finding is a program already.
_SHRINKING_SECONDS = 10


def _forms(text: str) -> list[str]:
    """Return the forms of lines of a program, which are separated by bars. {t}, {u} and {w} are tensors, {a}, {b} and {c} small
    numbers."""
    return [form for line in text.strip().splitlines() for form in line.strip().split(" | ")]


_VIEWS = _forms("""
    {t}.select({a}, {b}) | {t}.transpose({a}, {b}) | {t}.unsqueeze({a}) | {t}.squeeze()
    {t}.squeeze({a}) | {t}.narrow({a}, {b}, {c}) | {t}.view(-1) | {t}.view({s}) | {t}.reshape({s})
    {t}.expand({s}) | {t}.as_strided({s}, ({b},) * len({s}), {c}) | {t}.detach() | {t}.t()
    {t}.as_strided({s}, {strides}, {c}) | {t}.unfold({a}, {b}, {c}) | {t}.diagonal({a})
    {t}.view_as({u}) | {t}.expand_as({u}) | {t}[{key}] | {t}[{key}] | {t}.permute({a}, {b})
    {t}.split(2, {a})[{b}] | {t}.unbind({a})[{b}] | {t}.movedim({a}, {b}) | {t}.swapaxes({a}, {b})
    {t}.as_strided({huge}, (1,) * len({huge}), {c}) | {t}.expand({huge}) | {t}.slice_inverse({u})
    {t}.as_strided((2,), (2**61 - 1,), 0) | {t}.as_strided((1,), (1,), 2**61) | {t}.flatten()
    """)
_RESULTS = _forms("""
    {t}.clone() | {t} + {u} | {t} * {n} | m.cat([{t}, {u}], {a}) | m.stack([{t}, {u}, {t}], {a})
    {t}.contiguous() | {t}.sum() | {t}.sum({a}) | {t}.to(m.float32) | m.where({t} == {u}, {t}, {u})
    {t}.cumsum({a}) | {t}.flip({a}) | {t}.roll({a}, {b}) | {t}.repeat({a}, {b}) | m.zeros_like({t})
    {t}.index_select({a}, m.tensor([0, 0])) | {t}.gather({a}, {u}) | {t}.sort({a})[0] | {t}.abs()
    copy.copy({t}) | copy.deepcopy({t}) | {t}.tril() | {t}.max() | m.tensor({t}.tolist())
    copy.deepcopy([{t}, {u}])[{b}] | {t}.masked_fill({t} == 1, {n}) | {t}.new_zeros({s})
    """)
_WRITES = _forms("""
    {t}.add_({n}) | {t}.add_({u}) | {t}.mul_({n}) | {t}.zero_() | {t}.fill_({n})
    {t}.copy_({u}.clone()) | {t}[{key}] = {n} | {t}[{key}] = {u}.clone() | {t}.neg_()
    {t}.cumsum_({a}) | {t}.tril_() | {t}.masked_fill_({t} == 1, {n}) | {t}.clamp_(0, 2)
    {t}.index_fill_({a}, m.tensor([0]), {n}) | {t}.scatter_({a}, {u}, {n}) | {t} += {n}
    m.add({t}, {n}, out={t}) | m.add({t}, {u}, out={w}) | m.mul({t}, {u}, out={w})
    m.cat([{t}.clone(), {u}.clone()], {a}, out={w}) | m.clamp({t}, 0, 1, out={w})
    m.stack([{t}.clone()] * 2, out={w}) | m.sum({t}, {a}, out={w}) | m.zeros({s}, out={w})
    m.index_select({t}.clone(), {a}, m.tensor([0]), out={w})
    """)
# What changes the tensor itself: its sizes, its strides, or its storage.
_RESHAPES = _forms("""
    {t}.resize_({s}).fill_({n}) | {t}.resize_({s}).fill_({n}) | {t}.resize_({huge})
    {t}.resize_as_({u}).fill_({n}) | {t}.set_({u}) | {t}.squeeze_() | {t}.unsqueeze_({a})
    {t}.transpose_({a}, {b}) | {t}.t_() | {t}.as_strided_({s}, {strides}, {c}) | {t}.detach_()
    {t}.as_strided_((2,), (2**61 - 1,), 0) | {t}.set_() | {t}.resize_((10**9,)) | {t}.squeeze_({a})
    """)
# What holds the bytes, and shows them to others.
_HOLDERS = _forms("""
    memoryview({t}) | {t}.numpy() | np.asarray({t}) | np.from_dlpack({t}) | {t}.storage()
    iter({t}) | {t}.__dlpack__() | memoryview({t}.storage()) | memoryview({t})[:1]
    {t}.untyped_storage() | {t}.tolist | pickle.dumps({t}, 5, buffer_callback=[].append)
    """)
# What an object does while its value is requested, and where it is passed.
_WICKED = _forms("""
    {u}.resize_((0,)) | {u}.resize_((50,)).zero_() | {u}.set_() | box.clear() | gc.collect()
    box[:] = [1] * 50 | {u}.squeeze_() | 1 / 0
    """)
_ASKING = _forms("""
    {t}[box[0]] | {t}[box] | {t}[box[0]:] | {t}[:] = box[0] | {t}[0] = box | m.zeros(box)
    m.tensor(box) | m.tensor([box, box]) | {t}.view(box) | {t}.resize_(box) | {t}.add(box[0])
    {t}.sum(box) | m.cat(box) | m.full((2,), box[0]) | {t}.select(0, box[0])
    {t}.as_strided(box, box, box[0]) | m.tensor((box, 1)) | {t}.fill_(box[0]) | m.stack([{t}, box])
    {t}.permute(box) | {t} + box[0] | m.from_numpy(box[0]) | {t}[box[0], box[0]]
    {t}.clamp(box[0], box[0]) | {t}[(box[0], None, box)] | m.arange(box[0], 5, box[0])
    """)
KEYS = st.sampled_from(_forms("""
    0 | -1 | 1: | :-1 | ::2 | ... | None | (0, ..., None) | (slice(None), 0) | 1:1 | True | False
    [0] | [0, 0] | [] | m.tensor([0, 1]) | m.tensor([True, False]) | (None,) * 70 | 2**62 | 5:2**62
    """))
SIZES = st.sampled_from(
    _forms(
        "() | (3,) | (0,) | (2, 3) | (4, 1) | (2, 0, 3) | (2, 2, 2) | (40,) | (1,) * 9 | (1,) * 66"
    )
)
HUGE = st.sampled_from(
    ["(2**62,)", "(2**31, 2**31)", "(2**61, 2)", "(2**63 - 1,)", "(-1,)", "(2**40, 0)"]
)
DTYPES = st.sampled_from(["float32", "float64", "int64", "uint8", "bool", "complex64"])
SMALL = st.integers(-4, 4)
STRIDES = st.sampled_from([0, 1, 1, 2, 3, 2**62])
NUMBERS = st.sampled_from(["0", "1", "2", "-1", "True", "3"])


class Wicked:
    """An object to pass as a number, list or array: when asked for its value, it first runs a line of the program."""

    def __init__(self, names: dict[str, Any], line: str, number: int = 0) -> None:
        self._run = lambda: exec(line, names)
        self._number = number
        self._depth = 0

    def _answer(self) -> int:
        self._run()
        return self._number

    def __index__(self) -> int:
        return self._answer()

    def __float__(self) -> float:
        return float(self._answer())

    def __bool__(self) -> bool:
        return bool(self._answer())

    def __len__(self) -> int:
        return self._answer()

    def __array__(self, *_: object, **__: object) -> Any:
        return np.array(self._answer())

    def __iter__(self) -> Any:
        return iter([self._answer()])


class Hook:
    """A hook to register: a call writes the gradient to the log, and runs `line`, which may set `r`, the result; the end
    of the object runs `end`."""

    def __init__(self, names: dict[str, Any], name: str, line: str, end: str) -> None:
        self._names, self._name, self._line, self._end = names, name, line, end

    def __call__(self, *given: Any) -> Any:
        g = given[0][0] if isinstance(given[0], tuple) and given[0] else given[0]
        seen = (tuple(g.shape), g.tolist()) if hasattr(g, "tolist") else None
        self._names["log"].setdefault(self._name, []).append(seen)
        local = {"g": g, "r": None}
        exec(self._line, self._names, local)
        return local["r"]

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # Such as that of a name that is gone.
            exec(self._end, self._names)


class Side:
    """The variables of a program, for one library."""

    def __init__(self, module: Any) -> None:
        self.names: dict[str, Any] = {
            "m": module,
            "np": np,
            "gc": gc,
            "copy": copy,
            "pickle": pickle,
        }
        self.names["wicked"] = lambda line, number=0: Wicked(self.names, line, number)
        self.names["hook"] = lambda name, line, end="": Hook(self.names, name, line, end)
        self.names["log"] = {}
        self.names["kept"] = []
        self.module = module

    def run(self, line: str) -> Exception | None:
        try:
            exec(line, self.names)
        except Exception as refused:
            refused.__traceback__ = None
            return refused
        return None


class Machine(RuleBasedStateMachine):
    """The rules; each adds a line to the program."""

    ours_module: Any = None
    torch_module: Any = None
    journal: Any = None
    counts: ClassVar[collections.Counter[str]] = collections.Counter()

    def __init__(self) -> None:
        super().__init__()
        self.ours, self.theirs = Side(self.ours_module), Side(self.torch_module)
        self.lines: list[str] = []
        self.tensors: list[str] = []
        self.holders: list[str] = []
        self.made = 0
        # Whether PyTorch's side has given the same results so far.
        self.paired = True
        self.refusal: Exception | None = None
        self.journal.seek(0)
        self.journal.truncate()

    # Helpers of the rules.

    def _name(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def _run(self, line: str, *, alone: bool = False) -> bool:
        """Run a line; return whether ours accepted it. `alone`: PyTorch has no counterpart, and nothing depends on the
        result.
        """
        self.lines.append(line)
        self.journal.write(line + "\n")
        self.journal.flush()
        Machine.counts["calls"] += 1
        self.refusal = refused = self.ours.run(line)
        if refused is None:
            Machine.counts["accepted"] += 1
        elif isinstance(refused, SystemError) or "internal error" in str(refused):
            raise AssertionError(self._said(f"{type(refused).__name__}: {refused}"))
        elif isinstance(refused, MemoryError):
            return False
        elif "scatter_(" in line or "index_fill_(" in line or "out=" in line:
            # As in PyTorch, elements before an index out of range are written, and `out` is resized.
            self.paired = False
        if refused is None and self.paired and not alone:
            other = self.theirs.run(line)
            if other is not None:
                Machine.counts["PyTorch alone refuses"] += 1
                Machine.counts[f"PyTorch refuses: {re.sub('[0-9]+', '', line)}"] += 1
                self.paired = False
        return refused is None

    def _make(self, line: str, *, alone: bool = False) -> None:
        """Run `line` with a new tensor on its left."""
        name = self._name("t")
        if self._run(f"{name} = {line}", alone=alone):
            if not isinstance(self.ours.names[name], self.ours.module.Tensor):
                return
            self.tensors.append(name)
            if alone:
                self.paired = False
            if len(self.tensors) > MOST_TENSORS:
                self._run(f"del {self.tensors.pop(0)}")
        self._check()

    def _write(self, line: str) -> None:
        self._run(line)
        self._check()

    def _check(self) -> None:
        for name in self.tensors:
            tensor = self.ours.names[name]
            sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
            offset, room = tensor.storage_offset(), tensor.storage().nbytes
            first, last = offset, offset
            for n, step in zip(sizes, strides):
                first, last = first + min(0, (n - 1) * step), last + max(0, (n - 1) * step)
            inside = 0 in sizes or (first >= 0 and (last + 1) * tensor.element_size() <= room)
            assert inside and all(n >= 0 for n in sizes), self._said(
                f"{name}: {sizes} by {strides} + {offset} in {room} bytes"
            )
            count = int(np.prod([float(n) for n in sizes])) if sizes else 1
            if count > 4096 or max(sizes, default=0) > 4096 or len(sizes) > 60:
                continue
            mine = tensor.tolist()
            if self.paired:
                other = self.theirs.names[name]
                theirs = (tuple(other.shape), other.tolist())
                assert self._same((sizes, mine), theirs), self._said(
                    f"{name} is {(sizes, mine)}, not {theirs}"
                )
        for name in self.holders:
            held = self.ours.names.get(name)
            if isinstance(held, memoryview):
                bytes(held)
            elif isinstance(held, np.ndarray):
                held.tobytes()
            elif type(held).__name__ == "UntypedStorage":
                bytes(memoryview(held))

    def _same(self, mine: Any, theirs: Any) -> bool:
        """Compare as texts where they are not numbers; the sign of zero is ignored."""
        return bool(mine == theirs or repr(mine) == repr(theirs))

    def _said(self, what: str) -> str:
        program = "\n".join(self.lines)
        return f"{what}\n--8<--\n{program}\n--8<--"

    def _one(self, data: Any) -> str:
        return str(data.draw(st.sampled_from(self.tensors)))

    # The rules.

    @rule(size=SIZES, dtype=DTYPES, maker=st.sampled_from(["zeros({s}", "ones({s}", "full({s}, 3"]))
    def new(self, size: str, dtype: str, maker: str) -> None:
        self._make(f"m.{maker.format(s=size)}, dtype=m.{dtype})")

    @rule(
        count=st.sampled_from([0, 1, 6, 40]),
        dtype=st.sampled_from(["float32", "int64", "uint8"]),
        data=st.data(),
    )
    def of_numpy(self, count: int, dtype: str, data: Any) -> None:
        name = self._name("a")
        self._run(f"{name} = np.arange({count}, dtype=np.{dtype}) % 7")
        self.holders.append(name)
        key = data.draw(st.sampled_from(["", "", "[::2]", "[1:]", "[:3]"]))
        how = data.draw(
            st.sampled_from(["m.from_numpy({a})", "m.from_dlpack({a})", "m.tensor({a})"])
        )
        self._make(how.format(a=name + key))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def view(self, data: Any) -> None:
        self._make(self._drawn(_VIEWS, data))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def result(self, data: Any) -> None:
        self._make(self._drawn(_RESULTS, data))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def write(self, data: Any) -> None:
        self._write(self._drawn(_WRITES, data))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def reshape(self, data: Any) -> None:
        self._write(self._drawn(_RESHAPES, data))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def hold(self, data: Any) -> None:
        name = self._name("h")
        if self._run(f"{name} = {self._drawn(_HOLDERS, data)}", alone=True):
            self.holders.append(name)
        self._check()

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def share(self, data: Any) -> None:
        """Make another storage of the same bytes."""
        self._make(self._drawn(["m.from_dlpack({t})", "m.from_numpy({t}.numpy())"], data))

    @precondition(lambda self: self.holders)
    @rule(data=st.data())
    def release(self, data: Any) -> None:
        name = data.draw(st.sampled_from(self.holders))
        self.holders.remove(name)
        self._run(f"del {name}", alone=not name.startswith("a"))
        self._check()

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def drop(self, data: Any) -> None:
        name = self._one(data)
        self.tensors.remove(name)
        self._run(f"del {name}")
        self._check()

    @rule()
    def collect(self) -> None:
        self._run("gc.collect()", alone=True)
        self._check()

    @precondition(lambda self: len(self.tensors) > 2 and len(self.lines) > 12)
    @rule(data=st.data())
    def misbehave(self, data: Any) -> None:
        """Pass an object that does something else while its value is requested."""
        inner, outer = self._drawn(_WICKED, data), self._drawn(_ASKING, data)
        self._run("box = []", alone=True)
        self._run(f"box += [wicked({inner!r}, {data.draw(SMALL)}), 1, 2]", alone=True)
        self.paired = False
        self._run(outer, alone=True)
        self._run("box = None", alone=True)
        self._check()

    def _drawn(self, forms: list[str], data: Any) -> str:
        """Return a line of one of the forms."""
        form = data.draw(st.sampled_from(forms))
        size = data.draw(SIZES) if "{s}" in form else ""
        strides = [data.draw(STRIDES) for _ in eval(size or "()")] if "{strides}" in form else []
        draws = {"huge": HUGE, "n": NUMBERS, "key": KEYS, **dict.fromkeys("abc", SMALL)}
        draws |= dict.fromkeys("tuw", st.sampled_from(self.tensors))
        drawn = {n: data.draw(each) for n, each in draws.items() if f"{{{n}}}" in form}
        return form.format(s=size, strides=tuple(strides), **drawn)

    def teardown(self) -> None:
        Machine.counts["sequences"] += 1
        self.ours.names.clear()
        self.theirs.names.clear()
        gc.collect()


# What a hook does with the gradient `g`. The first are as in PyTorch; what the others change is not the same in both.
_HOOKS = _forms("""
    r = g * 2 | r = g | r = g.clone() | r = g + g.sum() | r = g.detach() | {u}.sum() | 1 / 0 | r = 1
    r = g.sum() | r = g.to(m.int64) | gc.collect() | kept.append(g) | {k}.remove() | {k}.remove()
    {u}.register_hook(hook('in', '')) | {u}.retain_grad() | r = m.cat([g, g]) | {u}.grad
    m.autograd.grad({u}.sum(), {u}) | r = g.expand((3,))
    """)
_WICKED_HOOKS = _forms("""
    g.mul_(2) | g.zero_() | g.resize_((0,)) | g.resize_((50,)).zero_() | g.set_() | g.t_()
    g.unsqueeze_(0) | g.as_strided_((1,), (0,), 0) | {u}.resize_((0,)) | {u}.set_() | r = {u}
    {u}.resize_((50,)).zero_() | {u}.detach_() | {u}.add_(1) | {u}.grad = None | {u}.grad = g
    {u}.grad.resize_((0,)) | {u}.grad.set_() | kept.clear() | {u}.requires_grad_(False)
    kept[0].resize_((0,)) | {u}.squeeze_() | {u}.backward(m.ones_like({u})) | {u}.copy_(g)
    g.requires_grad_() | {u}.set_(g) | g.set_({u}) | {u}.sum().backward(retain_graph=True)
    m.enable_grad().__enter__(); r = g * {u}
    """)
_ENDS = ["{k}.remove()", "{k}.remove()", "gc.collect()"]
_WICKED_ENDS = _forms("""
    {k}.remove() | {u}.grad = None | {u}.resize_((0,)) | {u}.detach_() | kept.clear()
    ({u} * 2).sum().backward() | {u}.register_hook(hook('end', '', '{k}.remove()'))
    """)
_PLACES = _forms("""
    {t}.register_hook({h}) | {t}.register_hook({h}) | {t}.register_hook({h})
    {t}.register_post_accumulate_grad_hook({h})
    """)
# Nodes are not the same in both: nothing but their presence is compared.
_NODE_PLACES = _forms("""
    {t}.grad_fn.register_hook({h}) | {t}.grad_fn.register_prehook({h})
    {t}.grad_fn.next_functions[0][0].register_hook({h})
    {t}.grad_fn.next_functions[0][0].register_prehook({h})
    """)
_BACKWARDS = _forms("""
    {t}.sum().backward() | {t}.sum().backward(retain_graph=True) | ({t} * {u}).sum().backward()
    {t}.backward(m.ones_like({t})) | {t}.sum().backward(inputs=[{u}])
    m.autograd.backward([{t}, {u}], [m.ones_like({t}), m.ones_like({u})]) | {t}.grad = None
    {t}.retain_grad() | {t}.requires_grad_() | {t}.detach_() | with m.no_grad(): {t}.add_({n})
    {t}.grad = m.ones_like({t})
    """)
_GRADIENTS = _forms("""
    m.autograd.grad({t}.sum(), {u})[0] | m.autograd.grad({t}.sum(), {u}, create_graph=True)[0]
    m.autograd.grad({t}.sum(), [{u}, {t}], materialize_grads=True)[0] | ({t} * {u}).requires_grad_()
    {t} * {u} | {t} * {t} | {t}.grad | {t}.grad * {u}
    """)


class Graphs(Machine):
    """The same rules with recorded gradients, and rules for leaves, hooks and backward()."""

    def __init__(self) -> None:
        super().__init__()
        self.hooks: list[str] = []

    def _same(self, mine: Any, theirs: Any) -> bool:
        """Sums of gradients are rounded in other orders."""
        if super()._same(mine, theirs):
            return True
        try:
            return mine[0] == theirs[0] and np.allclose(
                np.array(mine[1]), np.array(theirs[1]), 1e-4, 1e-4, equal_nan=True
            )
        except (TypeError, ValueError):
            return False

    def _check(self) -> None:
        super()._check()
        self._check_gradients()

    def _check_gradients(self) -> None:
        for name in self.tensors:
            grad = self.ours.names[name].grad
            if grad is not None:
                grad.tolist()
            if not self.paired:
                continue
            mine, theirs = self._facts(self.ours, name), self._facts(self.theirs, name)
            same = mine[:2] == theirs[:2] and self._same(mine[2], theirs[2])
            assert same, self._said(f"{name} requires, is a leaf, has .grad: {mine}, not {theirs}")
        if self.paired:
            for name, seen in self.theirs.names["log"].items():
                mine = self.ours.names["log"].get(name, ())
                same = len(mine) == len(seen) and all(map(self._same, mine, seen))
                assert same, self._said(f"{name} saw {mine}, not {seen}")

    def _make(self, line: str, *, alone: bool = False) -> None:
        """Without views that repeat an element so often that their sum takes for ever. The copies that copy.copy()
        makes are leaves in PyTorch."""
        super()._make(line, alone=alone or line.startswith("copy.copy("))
        if self.tensors and self.ours.names[self.tensors[-1]].numel() > 4096:
            self._run(f"del {self.tensors.pop()}")

    def _facts(self, side: Side, name: str) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tensor = side.names[name]
            grad = tensor.grad
            seen = None if grad is None else (tuple(grad.shape), grad.tolist())
            return tensor.requires_grad, tensor.is_leaf, seen

    @rule(data=st.data(), size=SIZES)
    def leaf(self, data: Any, size: str) -> None:
        dtype = data.draw(st.sampled_from(["float32", "float64", "complex64"]))
        self._make(f"m.full({size}, 2, dtype=m.{dtype}, requires_grad=True)")

    @precondition(lambda self: self.tensors)
    @rule(data=st.data(), wicked=st.sampled_from([False, False, False, True]))
    def hook(self, data: Any, wicked: bool) -> None:
        at_node = data.draw(st.sampled_from([False, False, True]))
        name = self._name("n" if at_node else "k")
        # PyTorch's gradient of a node has other parts: a hook there changes nothing.
        lines = _WICKED_HOOKS if wicked else ["", "", *([] if at_node else _HOOKS)]
        ends = _WICKED_ENDS if wicked else ["", "", *_ENDS]
        line, end, place = (
            self._hooked(data.draw(st.sampled_from(forms)), data)
            for forms in (lines, ends, _NODE_PLACES if at_node else _PLACES)
        )
        if wicked:
            self.paired = False
        made = f"hook({name!r}, {line!r}, {end!r})"
        if self._run(f"{name} = {place.replace('{h}', made)}", alone=wicked):
            self.hooks.append(name)
        self._check()

    def _hooked(self, form: str, data: Any) -> str:
        for letter, names in (("t", self.tensors), ("u", self.tensors), ("k", self.hooks)):
            while "{" + letter + "}" in form:
                name = data.draw(st.sampled_from(names or ["k0"]))
                form = form.replace("{" + letter + "}", name, 1)
        return form

    @precondition(lambda self: self.hooks)
    @rule(data=st.data())
    def unhook(self, data: Any) -> None:
        name = data.draw(st.sampled_from(self.hooks))
        line = data.draw(st.sampled_from(["{k}.remove()", "{k}.remove()", "del {k}"]))
        if line == "del {k}":
            self.hooks.remove(name)
        self._write(line.format(k=name))

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def backward(self, data: Any) -> None:
        line = self._drawn(_BACKWARDS, data)
        if not self._run(line) and "backward" in line:
            self._refused(line)
        self._check()

    @precondition(lambda self: self.tensors)
    @rule(data=st.data())
    def gradient(self, data: Any) -> None:
        self._make(self._drawn(_GRADIENTS, data))

    def _refused(self, line: str) -> None:
        """PyTorch refuses it too; what was computed before is not compared."""
        if self.paired and "64 dimensions" not in str(self.refusal):
            refused = self.theirs.run(line)
            assert refused is not None, self._said(f"only ours refuses: {self.refusal}")
        self.paired = False


def run_here(packages: str, allocator: str, journal: str, number: int, examples: int) -> None:
    """Run in this process, which the sanitizer ends if it finds something."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, packages)
    import aten  # noqa: PLC0415
    import torch  # noqa: PLC0415

    machine = (Machine, Graphs)[number // 2 % 2]
    torch.set_grad_enabled(machine is Graphs)
    torch.set_num_threads(1)
    if allocator != "-":
        ctypes.CDLL(allocator).hunt_install("LD_PRELOAD" not in os.environ)
    Machine.ours_module, Machine.torch_module = aten, torch
    engine.MAX_SHRINKING_SECONDS = _SHRINKING_SECONDS
    gc.collect()
    gc.freeze()  # Objects imported by PyTorch are not scanned again.
    with open(journal, "w", encoding="utf-8") as Machine.journal:
        for steps in (20, 60, 200):
            chosen = settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                database=None,
                derandomize=False,
                suppress_health_check=list(HealthCheck),
                print_blob=False,
                report_multiple_bugs=False,
                phases=(Phase.generate, Phase.shrink),
            )
            test: Callable[[], None] = seed(number * 3 + steps)(
                lambda: run_state_machine_as_test(machine, settings=chosen)  # noqa: B023
            )
            test()
    print(json.dumps(Machine.counts))


def hunt_sequences(build: Any, findings: Any, *, seconds: float, examples: int = 30) -> None:
    """Run processes, each with the next seed, until the time is over."""
    ends = time.monotonic() + seconds
    journal = findings.folder / "sequence.py"
    while time.monotonic() < ends:
        allocator = build.allocator if findings.rounds % 2 == 0 else "-"
        command = build.command(
            Path(__file__), build.packages, allocator, journal, str(findings.rounds), str(examples)
        )
        code, said, printed = build.child(command, timeout_s=900)
        findings.rounds += 1
        counted = json.loads(printed.splitlines()[-1]) if code == 0 else {}
        for name, count in counted.items():
            findings.kinds[f"({name})"] += count
        if code != 0:
            program = journal.read_text(encoding="utf-8")
            findings.calls["sequence"] += program.count("\n")
            shrunk = re.search(r"AssertionError: (.*)\n--8<--\n((?:.|\n)*?)\n--8<--", said)
            if shrunk:
                key = f"sequence: {re.sub(r'[0-9]+', 'N', shrunk[1])[:90]}"
                findings.found(key, "sequence", shrunk[1], _whole(shrunk[2]), said[-6000:])
            else:
                crash = crash_of(said, code, "hangs" if code is None else "")
                last = program.splitlines()[-1:] or [""]
                text = f"the last line: {last[0]}"
                findings.crashed(crash, last[0], "sequence", text, _whole(program))
        else:
            findings.calls["sequence"] += counted["calls"]
            findings.accepted["sequence"] += counted["accepted"]
        findings.write()


def _whole(lines: str) -> str:
    head = [
        "from __future__ import annotations",
        "import contextlib, copy, gc, pickle, warnings",
        "from typing import Any",
        "import numpy as np",
        "import aten as m",
        "warnings.simplefilter('ignore')",
        *(inspect.getsource(each) for each in (Wicked, Hook)),
        "wicked = lambda line, number=0: Wicked(globals(), line, number)",
        'hook = lambda name, line, end="": Hook(globals(), name, line, end)',
        "log, kept = {}, []",
    ]
    body = []
    for line in lines.splitlines():
        body += [
            "try:",
            f"    {line}",
            "except Exception as refused:",
            f"    print({line!r}, '->', repr(refused))",
        ]
    return "\n".join([*head, *body, ""])


if __name__ == "__main__":
    run_here(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]))  # type: ignore[arg-type]
