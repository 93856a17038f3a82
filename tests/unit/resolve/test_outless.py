"""Structured operators without an out variant: what is registered for them, and that strict mode rejects them."""

from __future__ import annotations

import pytest
from resolving import function, key

from opgen.diagnostics import Diagnostics, Source
from opgen.parse.files.native_functions import builtin_tags, parse_entries
from opgen.resolve.computed_table import computed_table, serving_alias
from opgen.resolve.dispatch_tables import registrations_by_key
from support.inputs import registry_of

_COPY = """\
- func: foo_copy(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: foo_copy
  tags: view_copy
  autogen: foo_copy.out
"""
_VIEW = f"- func: foo(Tensor(a) self) -> Tensor(a)\n  structured: True\n{_COPY}"
_FILLED = """\
- func: foo(Tensor self) -> Tensor
  structured: True
  dispatch:
    CPU: foo_cpu
    SparseCPU: foo_sparse
- func: foo_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: foo
"""


def registered(text: str) -> dict[str, list[tuple[str, str, str | None]]]:
    """Return operator, kind and kernel of each row for operators called foo, by key."""
    found: dict[str, list[tuple[str, str, str | None]]] = {}
    for name, rows in registrations_by_key(registry_of(text)).items():
        for row in rows:
            if row.function.root_name == "foo":
                kernel = row.kernel.name if row.kernel else None
                found.setdefault(name.name, []).append(
                    (str(row.function.func.name), row.kind.name, kernel)
                )
    return found


def test_views_are_made_by_meta_on_every_backend() -> None:
    """Protects against requiring a kernel for a view from every backend."""
    row = [("foo", "structured", None)]
    assert registered(_VIEW) == {"CompositeExplicitAutograd": row, "Meta": row}


@pytest.mark.parametrize("name", ["CPU", "CUDA", "PrivateUse1", "SparseCPU"])
def test_a_view_exists_for_every_backend(name: str) -> None:
    registry = registry_of(_VIEW)
    serving = serving_alias(registry, function(registry, "foo"), key(name))
    assert serving is key("CompositeExplicitAutograd")


def test_the_table_names_the_maker_of_a_view() -> None:
    registry = registry_of(_VIEW)
    cells = {cell.key: cell for cell in computed_table(registry, function(registry, "foo"))}
    assert cells[key("CPU")].reason.endswith("the meta function creates the views on every backend")
    assert cells[key("Meta")].reason == "the meta function of its structured group"


def test_new_tensors_are_filled_by_kernels_of_backends() -> None:
    """A backend without a kernel gets no composite kernel: there is no out operator that it could call."""
    assert registered(_FILLED) == {
        "CPU": [("foo", "structured", "foo_cpu"), ("foo_", "structured", "foo_cpu")],
        "SparseCPU": [("foo", "unstructured", "foo_sparse")],
        "Meta": [("foo", "structured", None), ("foo_", "structured", None)],
    }


@pytest.mark.parametrize(
    "composite", ["CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"]
)
@pytest.mark.parametrize("text", [_FILLED, _VIEW])
def test_a_kernel_may_serve_every_backend(text: str, composite: str) -> None:
    """Protects against a composite kernel that is registered as unstructured, or twice."""
    entry, line = "  structured: True\n", f"    {composite}: foo_all\n"
    table = "  dispatch:\n"
    text = (
        text.replace(f"{entry}{table}", f"{entry}{table}{line}")
        if text is _FILLED
        else text.replace(entry, f"{entry}{table}{line}")
    )
    found = registered(text)
    assert found[composite][0] == ("foo", "structured", "foo_all")
    assert found["Meta"][0] == ("foo", "structured", None)
    assert len([k for k in found if k.startswith("Composite")]) == 1


def test_bases_are_found_by_alias_set() -> None:
    registry = registry_of(
        "- func: foo(Tensor(a) x, int n, Tensor(b) y) -> (Tensor(b), Tensor, Tensor(a))\n"
        "  structured: True\n  dispatch:\n    CPU: foo_cpu\n"
    )
    assert [group.bases() for group in registry.outless_groups] == [(2, -1, 0)]


@pytest.mark.parametrize("text", [_VIEW, _FILLED])
def test_strict_torchgen_rejects_it(text: str) -> None:
    diagnostics = Diagnostics()
    source = Source("f.yaml", text)
    parse_entries([source], builtin_tags(), (), diagnostics, strict_torchgen=True)
    assert [(str(d.code), d.span.start if d.span else -1) for d in diagnostics] == [
        ("E0241", text.index("structured: True"))
    ]
