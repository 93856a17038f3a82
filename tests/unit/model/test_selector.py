"""The operators, overloads and element types that a selector selects, and the union of several files."""

from __future__ import annotations

import pytest

from opgen.model.selector import SelectedOperator, Selector, merge


def selector(*operators: SelectedOperator, **fields: object) -> Selector:
    return Selector(operators={o.name: o for o in operators}, **fields)  # type: ignore[arg-type]


def test_nothing_is_selected_by_default() -> None:
    nothing = Selector()
    assert not nothing.is_operator_selected("aten::add")
    assert nothing.selects_dtypes


@pytest.mark.parametrize(("all_overloads", "found"), [(True, True), (False, False)])
def test_a_name_means_all_its_overloads(all_overloads: bool, found: bool) -> None:
    s = selector(SelectedOperator("aten::add", include_all_overloads=all_overloads))
    assert s.is_operator_selected("aten::add")
    assert s.is_operator_selected("aten::add.out") is found
    assert not s.is_operator_selected("aten::add_.Tensor")
    assert not s.is_operator_selected("other::add")


def test_an_overload_is_selected_by_its_own_entry() -> None:
    s = selector(SelectedOperator("aten::add.out"))
    assert s.is_operator_selected("aten::add.out")
    assert not s.is_operator_selected("aten::add.Tensor")


def test_all_element_types_are_kept_with_what_is_no_operator() -> None:
    assert not selector(include_all_non_op_selectives=True).selects_dtypes


def test_each_of_several_files_keeps_the_operators_that_it_names() -> None:
    one = selector(
        SelectedOperator("aten::add", include_all_overloads=False),
        kernel_metadata={"add_cpu": ("Float",)},
    )
    two = selector(
        SelectedOperator("aten::add"),
        kernel_metadata={"add_cpu": ("Float", "Long"), "neg_cpu": ("Half",)},
    )
    both = merge([one, two])
    assert both.operators == {"aten::add": SelectedOperator("aten::add")}
    assert both.kernel_metadata == {"add_cpu": ("Float", "Long"), "neg_cpu": ("Half",)}
