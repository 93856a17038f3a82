"""Compare every variant of every operator of the slice with ATen's own, in COUNT random calls of each:

    compare.py LIBRARY YAML COUNT [SEED]

Everything that a caller sees must be the same: values, dtype, strides, the exception's type, and the contents of the
written tensors. On the Meta device, dtype, sizes and strides are those of ATen on the CPU.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import torch
import yaml
from inputs import RECIPES, tensor

Seen: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class Group:
    """The overloads of one structured group, as `root.overload`."""

    out: str
    functional: str
    inplace: str | None
    outs: tuple[str, ...]


def groups(path: Path) -> Iterator[Group]:
    """The structured groups of the slice."""
    entries = yaml.safe_load(path.read_text())
    named = {e["func"].partition("(")[0].partition("::")[2]: e for e in entries}
    for name, entry in named.items():
        if not entry.get("structured"):
            continue
        members = [n for n, e in named.items() if e.get("structured_delegate") == name]
        inplace = [n for n in members if "(a!)" in named[n]["func"]]
        (functional,) = set(members) - set(inplace)
        schema = operator("slice", name)._schema
        outs = tuple(a.name for a in schema.arguments if a.is_out)
        yield Group(name, functional, inplace[0] if inplace else None, outs)


def operator(namespace: str, name: str) -> Any:
    root, _, overload = name.partition(".")
    return getattr(getattr(getattr(torch.ops, namespace), root), overload or "default")


def layout(t: torch.Tensor) -> Seen:
    return t.dtype, tuple(t.shape), t.stride(), t.device.type


def bits(t: torch.Tensor) -> bytes:
    """Return the bits of the elements, with all NaNs equal."""
    plain = torch.view_as_real(t) if t.is_complex() else t
    if plain.is_floating_point():
        plain = torch.where(plain.isnan(), torch.full_like(plain, float("nan")), plain)
    if plain.dtype is torch.bfloat16:
        plain = plain.view(torch.int16)
    return bytes(plain.numpy().tobytes())


def look(t: torch.Tensor) -> Seen:
    return (*layout(t), b"" if t.is_meta else bits(t))


def outcome(call: Callable[[], Any], written: list[torch.Tensor]) -> Seen:
    """Return what a caller sees; `written` are the tensors passed to be written."""
    before = [layout(t) for t in written]
    try:
        result = call()
    except Exception as error:
        # Tensors that were resized and then not written may contain anything.
        left = [look(t) if layout(t) == was else layout(t) for t, was in zip(written, before)]
        return "error", type(error).__name__, left
    several = result if isinstance(result, tuple) else (result,)
    same = tuple(any(r is w for w in written) for r in several)
    return "result", tuple(map(look, several)), same, tuple(map(look, written))


def on_meta(value: Any) -> Any:
    match value:
        case torch.Tensor():
            return torch.empty_strided(
                value.shape, value.stride(), dtype=value.dtype, device="meta"
            )
        case list():
            return [on_meta(v) for v in value]
        case _:
            return value


def copied(t: torch.Tensor) -> torch.Tensor:
    """Return a copy with the same strides, including gaps, in new memory."""
    span = 1 + sum((n - 1) * s for n, s in zip(t.shape, t.stride())) if t.numel() else 0
    memory = torch.as_strided(t, (span,), (1,)).clone()
    return torch.as_strided(memory, t.shape, t.stride())


class Comparison:
    """Counts outcomes; a difference raises AssertionError."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.counts: Counter[str] = Counter()

    def compare(self, group: Group, number: int) -> None:
        # Each case can be repeated by itself.
        rng = random.Random(f"{self.seed} {group.out} {number}")
        torch.manual_seed(rng.randrange(2**31))
        args, kwargs = RECIPES[group.out](rng)
        self.variant(group.functional, args, kwargs, {})
        if group.inplace is not None and isinstance(args[0], torch.Tensor):
            self.variant(group.inplace, args, kwargs, {}, inplace=True)
        self.variant(group.out, args, kwargs, given(rng, group, args, kwargs))

    def variant(
        self,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        outs: dict[str, torch.Tensor],
        inplace: bool = False,
    ) -> None:
        def run(namespace: str, meta: bool) -> Seen:
            own = {k: copied(t) for k, t in outs.items()}
            first = copied(args[0]) if inplace else args[0]
            all_args = (first, *args[1:])
            if meta:
                all_args, own = tuple(map(on_meta, all_args)), {
                    k: on_meta(t) for k, t in own.items()
                }
            written = [all_args[0]] if inplace else list(own.values())
            named = {k: on_meta(v) if meta else v for k, v in kwargs.items()}
            return outcome(lambda: operator(namespace, name)(*all_args, **named, **own), written)

        ours, theirs = run("slice", False), run("aten", False)
        shown = f"{name} of seed {self.seed}: {args} {kwargs} {outs}"
        assert ours == theirs, f"{shown}\n{ours}\n{theirs}"
        self.counts[f"CPU {theirs[0]}"] += 1
        self.meta(shown, args, theirs, run("slice", True), run("aten", True))

    def meta(self, shown: str, args: tuple[Any, ...], cpu: Seen, ours: Seen, theirs: Seen) -> None:
        """If ATen's CPU gives a result, the meta must predict it; if it raises, the cause may be a kernel, which does
        not run on Meta.
        """
        if cpu[0] != "result":
            what = f"{ours[0]} where the CPU refuses; ATen's Meta: {theirs[0]}"
        else:
            shown = f"Meta, {shown}\n{ours}\n{cpu}"
            assert ours[0] == "result", shown
            assert [r[:2] for r in ours[1]] == [r[:2] for r in cpu[1]], shown
            if strides(ours) == strides(cpu):
                what = "as on the CPU"
            elif theirs[0] == "result" and strides(ours) == strides(theirs):
                what = "strides of ATen's Meta, not of its CPU"
            else:
                # The CPU copies the operands, without gaps, to the dtype of the result, and lays
                # out the result like the copies, which do not exist on Meta.
                kinds = {a.dtype for a in args if isinstance(a, torch.Tensor)}
                assert len(kinds | {r[0] for r in cpu[1]}) > 1, shown
                what = "strides of neither: the CPU casts operands first"
        self.counts[f"Meta: {what}"] += 1


def strides(seen: Seen) -> list[Any]:
    """Return the strides of all results, in dimensions with at least two elements."""
    return [[s for s, n in zip(r[2], r[1]) if n > 1 and 0 not in r[1]] for r in seen[1]]


def given(
    rng: random.Random, group: Group, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, torch.Tensor]:
    """Return tensors for out=: in most cases with the result's dtype, empty or with its sizes."""
    try:
        results = operator("aten", group.functional)(*args, **kwargs)
    except Exception:
        results = (torch.empty(0),) * len(group.outs)
    several = results if isinstance(results, tuple) else (results,)
    outs = {}
    for name, result in zip(group.outs, several):
        dtype = result.dtype if rng.random() < 0.8 else None
        chance = rng.random()
        shape = (0,) if chance < 0.3 else tuple(result.shape) if chance < 0.8 else None
        out = tensor(rng, shape=shape, dtype=dtype, overlapping=False)
        # ATen's own kernels of these write out of bounds if the batches of out are not laid out in
        # order.
        outs[name] = out.contiguous() if group.functional in ("tril", "triu") else out
    return outs


def first_difference(comparison: Comparison, group: Group, count: int) -> str | None:
    for number in range(count):
        try:
            comparison.compare(group, number)
        except AssertionError as error:
            return f"input {number} of {error}"
    return None


def main() -> None:
    torch.ops.load_library(sys.argv[1])
    count, seed = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 20261
    comparison = Comparison(seed)
    found = list(groups(Path(sys.argv[2])))
    different = list(filter(None, (first_difference(comparison, g, count) for g in found)))
    assert not different, f"{len(different)} groups differ\n" + "\n".join(different)
    variants = sum(2 + (group.inplace is not None) for group in found)
    print(f"{len(found)} groups, {variants} operators, {count} inputs each")
    for what, times in sorted(comparison.counts.items()):
        print(f"{times:8} {what}")


if __name__ == "__main__":
    main()
