"""Types as the interpreter sees them, and the values of defaults."""

from __future__ import annotations

import pytest
from versions import operators

from opgen.compat.schema_rules import default_value, interpreter_type, is_accepted, is_list
from opgen.model.types import Type


def _type(text: str) -> Type:
    return operators(f"- func: foo({text} x) -> ()\n")[0].func.arguments.flat_all[0].type


@pytest.mark.parametrize(
    ("given", "wanted", "accepted"),
    [
        ("int", "int?", True),
        ("int?", "int", False),
        ("int?", "Scalar?", True),
        ("int", "SymInt", True),
        ("ScalarType", "Layout", True),
        ("float", "Scalar", True),
        ("bool", "Scalar", False),
        ("bool", "SymBool", False),
        ("int[]", "Scalar[]", False),
        ("int[]", "int?[]", False),
        ("int[]", "SymInt[]?", True),
        ("Tensor", "Tensor[]", False),
        ("Tensor[]", "Tensor", False),
    ],
)
def test_accepted_types(given: str, wanted: str, accepted: bool) -> None:
    assert is_accepted(interpreter_type(_type(given)), interpreter_type(_type(wanted))) is accepted


@pytest.mark.parametrize(
    ("type", "left", "right", "equal"),
    [
        ("float", "1", "1.0", True),
        ("float", "1e-5", "0.00001", True),
        ("float?", "1", "1.0", False),
        ("Scalar", "1", "1.0", False),
        ("int", "1", "True", False),
        ("int", "long", "4", True),
        ("int[2]", "0", "[0,0]", True),
        ("int[2]?", "0", "[0,0]", False),
        ("float[]", "[1]", "[1.0]", True),
        ("str", "'a'", '"a"', True),
        ("str", "'it\\'s'", '"it\'s"', True),
        ("str?", "None", "'None'", False),
        ("int", "unknown", "unknown", True),
    ],
)
def test_equal_defaults(type: str, left: str, right: str, equal: bool) -> None:
    of = _type(type)
    assert (default_value(left, of) == default_value(right, of)) is equal


def test_lists() -> None:
    assert is_list(default_value("[]", _type("int[]")))
    assert is_list(default_value("1", _type("int[2]")))
    assert not is_list(default_value("1", _type("int")))
    assert not is_list(default_value("None", _type("int[]?")))
