"""Warnings of kernels become Python warnings, which can be filtered, recorded and turned into exceptions."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from support.library import own_package


@pytest.fixture
def m() -> Any:
    return own_package()


def test_a_warning_names_the_line_that_called(m: Any) -> None:
    """Protects users from text on standard error that no filter reaches."""
    a, out = m.tensor([1.0, 2.0, 3.0]), m.zeros(2)
    with pytest.warns(UserWarning, match=r"\[2\] was resized to \[3\]") as seen:
        assert m.add(a, a, out=out) is out
    assert len(seen) == 1 and seen[0].filename == __file__
    assert out.tolist() == [2, 4, 6]


def test_a_warning_can_be_an_exception(m: Any) -> None:
    a, out = m.tensor([1.0, 2.0, 3.0]), m.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="was resized"):
            m.add(a, a, out=out)
    assert m.add(a, a).tolist() == [2, 4, 6]


def test_a_warning_of_a_call_that_released_the_gil(m: Any) -> None:
    a, out = m.zeros(20000), m.zeros(2)
    with pytest.warns(UserWarning, match="was resized"):
        m.add(a, a, out=out)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="was resized"):
            m.add(a, a, out=m.zeros(2))
