"""The dispatcher's functions for every operator, from Python: tables, graphs, precision, batches, times, seeds."""

from __future__ import annotations

import copy
import re
import threading
from typing import Any

import numpy as np
import pytest

from support.library import own_package

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def aten() -> Any:
    return own_package()


def test_tables(aten: Any) -> None:
    """Protects the table of one overload and of all, by name or by the function itself."""
    one = aten.dump_table("aten::add.Tensor")
    assert one.startswith("aten::add.Tensor\n"), one
    assert re.search(r"\bCPU\b.*: unboxed, from ", one), one
    assert len(one.splitlines()) < 20, one
    assert "keys: fallthrough" in one
    whole = aten.dump_table("aten::add.Tensor", whole=True)
    assert whole.startswith("aten::add.Tensor\n") and "\nBatched: " in whole
    assert "\nCPU: " in whole
    assert aten.dump_table("add.Tensor") == one and one in aten.dump_table("add")
    assert aten.dump_table(aten.add) == aten.dump_table("add")
    with pytest.raises(ValueError, match="no imported library has an operator 'nothing'"):
        aten.dump_table("nothing")


def test_a_graph_is_printed_and_replayed(aten: Any) -> None:
    """Protects record_graph(): operators and indices are recorded, and run again on other inputs and on Meta."""

    def program(a: Any, b: Any) -> Any:
        part = a[1:, None, 0]
        part[0] = 7
        return part[0] + (a @ b)[aten.tensor([1]), -1]

    start = aten.ones(3, 2), aten.ones(2, 4)
    graph = aten.record_graph(program, *start)
    called = ["slice.Tensor", "unsqueeze", "select.int", "select.int", "fill_.Scalar", "select.int"]
    called += ["matmul", "select.int", "index.Tensor", "add.Tensor"]
    assert graph.operators == ["aten::" + name for name in called] and len(graph) == 10
    assert str(graph) == repr(graph) and "aten::slice.Tensor" in str(graph)
    assert graph.replay(aten.ones(5, 2), aten.ones(2, 3)).tolist() == [15]
    shapes = aten.record_graph(lambda a, b: (a[1:, None] + a[0, 0], (a @ b)[..., -1]), *start)
    meta = shapes.replay(aten.zeros(7, 2, device="meta"), aten.zeros(2, 3, device="meta"))[1]
    assert meta.shape == (7,) and meta.device == aten.device("meta")
    two = aten.record_graph(lambda a: (a[0], a[:1]), start[0])
    first, second = two.replay(aten.tensor([[5.0, 6]]))
    assert first.tolist() == [5, 6] and second.tolist() == [[5, 6]]
    assert "aten::alias" in str(aten.record_graph(lambda a: a[...], start[0]))


def test_operators_that_cannot_be_traced(aten: Any) -> None:
    a = aten.ones(2)
    with pytest.raises(TypeError, match="the result of the function must be a Tensor"):
        aten.record_graph(lambda a: 1, a)
    with pytest.raises(TypeError, match="the inputs of record_graph"):
        aten.record_graph(lambda a: a, 1)
    with pytest.raises(ZeroDivisionError):
        aten.record_graph(lambda a: 1 / 0, a)
    assert aten.record_graph(lambda a: a + a, a).operators == [
        "aten::add.Tensor"
    ]  # No context stays active.


def test_autocast(aten: Any) -> None:
    """Protects scopes of mixed precision: nested, disabled inside, and left by an exception."""
    a = aten.ones(2, 2)
    assert (a @ a).dtype is aten.float32
    with aten.autocast("cpu", dtype=aten.bfloat16) as scope:
        assert type(scope) is aten.autocast
        assert (a @ a).dtype is aten.bfloat16 and (a + a).dtype is aten.float32
        assert (a @ a)[0].dtype is aten.bfloat16
        with aten.autocast(enabled=False):
            assert (a @ a).dtype is aten.float32
        with scope:
            assert (a @ a).dtype is aten.bfloat16
    with pytest.raises(KeyError), aten.autocast():
        raise KeyError
    assert (a @ a).dtype is aten.float32


def test_an_autocast_scope_belongs_to_its_thread(aten: Any) -> None:
    """Protects the thread's keys: leaving a scope in another thread, or in the wrong order, is rejected."""
    a, found = aten.ones(2, 2), []
    outer, inner = aten.autocast(), aten.autocast()
    with outer:

        def work() -> None:
            found.append((a @ a).dtype)
            with pytest.raises(
                RuntimeError, match="leave an autocast scope in the thread that entered it"
            ):
                outer.__exit__(None, None, None)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        inner.__enter__()
        with pytest.raises(RuntimeError, match="the innermost scope first"):
            outer.__exit__(None, None, None)
        inner.__exit__(None, None, None)
    assert found == [aten.float32]
    with pytest.raises(TypeError, match="there is no dtype"):
        aten.autocast(dtype="int7")


def test_vmap(aten: Any) -> None:
    """Protects a function of one example applied to a batch: numbers, shapes inside, indices, several results."""
    rows = aten.tensor(np.arange(6.0).reshape(3, 2))
    bias = aten.tensor([10.0, 20])
    shapes = []

    def one(row: Any, bias: Any) -> Any:
        shapes.append(row.shape)
        assert "..." in repr(row)
        return row + bias, row[1], row[None, :1]

    sums, seconds, firsts = aten.vmap(one, in_dims=(0, None))(rows, bias)
    assert shapes == [(2,)]
    assert sums.tolist() == [[10, 21], [12, 23], [14, 25]] and seconds.tolist() == [1, 3, 5]
    assert firsts.tolist() == [[[0]], [[2]], [[4]]]
    assert (
        aten.vmap(lambda c: c + c, in_dims=1, out_dims=1)(rows).tolist() == (rows + rows).tolist()
    )
    pairs = aten.vmap(lambda a: aten.vmap(lambda b: a + b)(bias))(bias)
    assert pairs.tolist() == [[20, 30], [30, 40]]
    assert aten.vmap(lambda a, n: a + n, in_dims=(0, None))(rows, 1).tolist() == (rows + 1).tolist()
    places = aten.tensor([1, 0, 1])
    picked = aten.vmap(lambda row, i: row[i], in_dims=(0, 0))(rows, places)
    assert picked.tolist() == [1, 2, 5]


def test_calls_that_vmap_rejects(aten: Any) -> None:
    """Protects memory: inside, a tensor has no bytes that could be exported."""
    rows = aten.zeros(3, 2)
    for use, kind in [
        (lambda r: r.tolist(), NotImplementedError),
        (lambda r: np.asarray(r), Exception),
        (lambda r: memoryview(r), BufferError),
        (lambda r: r.__dlpack__(), BufferError),
        (lambda r: r.storage(), RuntimeError),
        (lambda r: copy.copy(r).__reduce_ex__(2), RuntimeError),
        (lambda r: r[0].item(), Exception),
        (lambda r: aten.full((2,), r[0]), TypeError),
        (lambda r: 1, TypeError),
        (lambda r: r.normal_(), RuntimeError),
    ]:
        with pytest.raises(kind):
            aten.vmap(use)(rows)
    with pytest.raises(TypeError, match="pass None in in_dims"):
        aten.vmap(lambda a, b: a)(rows, 1)
    with pytest.raises(ValueError, match="2 in_dims for 1 arguments"):
        aten.vmap(lambda a: a, in_dims=(0, 0))(rows)
    with pytest.raises(ValueError, match="'error' or 'different'"):
        aten.vmap(lambda a: a, randomness="same")
    assert (rows + 1).sum().item() == 6


def test_profile(aten: Any) -> None:
    a = aten.ones(4)
    with aten.profile() as profile:
        for _ in range(3):
            a + a
    a + a
    rows = {row["op"]: row for row in profile.rows()}
    assert rows["aten::add.Tensor"]["calls"] == 3
    assert rows["aten::add.Tensor"]["total_ns"] >= rows["aten::add.Tensor"]["own_ns"] > 0
    assert "aten::add.Tensor" in profile.table()
    assert aten.profile().rows() == []


def test_generators(aten: Any) -> None:
    """Protects seeds and states: the same numbers again, by argument and by default."""
    g = aten.Generator()
    assert g.manual_seed(5) is g and g.initial_seed() == 5 and g.device == aten.device("cpu")
    first = aten.rand(4, generator=g).tolist()
    state, twin = g.get_state(), copy.deepcopy(g)
    second = aten.rand(4, generator=g).tolist()
    assert first != second == aten.rand(4, generator=twin).tolist()
    assert aten.rand(4, generator=g.set_state(state)).tolist() == second
    assert aten.rand(4, generator=aten.Generator().manual_seed(5)).tolist() == first
    aten.manual_seed(5)
    assert aten.rand(4).tolist() == first
    assert aten.Generator().initial_seed() == aten.Generator(device="cpu").initial_seed()
    assert g.seed() == g.initial_seed() != 5
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    for bad in [1.5, "x", None]:
        with pytest.raises(TypeError):
            g.manual_seed(bad)
    with pytest.raises(TypeError, match="bytes"):
        g.set_state(3)
    with pytest.raises(ValueError, match="2512 bytes, not 5"):
        g.set_state(b"short")
    with pytest.raises(NotImplementedError, match="generators are not available on"):
        aten.Generator(device="cuda")
    with pytest.raises(TypeError, match="argument 'generator'"):
        aten.rand(4, generator=3)


def test_generators_agree_with_torch(aten: Any) -> None:
    torch = pytest.importorskip("torch")
    g, t = aten.Generator(), torch.Generator()
    assert g.initial_seed() == t.initial_seed()
    g.manual_seed(11), t.manual_seed(11)
    assert aten.rand(20, generator=g).tolist() == torch.rand(20, generator=t).tolist()
