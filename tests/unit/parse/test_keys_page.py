"""The pages from which editors show what keys and words mean explain all of them."""

from __future__ import annotations

from opgen.autograd.called_functions import FORMULA_KEYS, FORWARD_FORMS, HELPERS, formula_words
from opgen.lsp.navigation import type_words
from opgen.model.dispatch_key import DispatchKey
from opgen.model.types import BaseTy
from opgen.parse.entries.header import DERIVATIVES_KEYS
from opgen.parse.entries.keys import (
    CLASS,
    CLASS_KEYS,
    ENTRY,
    HEADER,
    HEADER_KEYS,
    KEYS,
    described,
)


def test_the_page_has_every_key() -> None:
    assert list(described(ENTRY)) == list(KEYS)
    assert tuple(described(HEADER)) == HEADER_KEYS
    assert tuple(described(CLASS)) == CLASS_KEYS
    assert set(described("What a key is for")) <= {*DispatchKey.__members__}


def test_the_page_of_formulas_has_every_word() -> None:
    assert tuple(formula_words("The header")) == DERIVATIVES_KEYS
    assert set(formula_words("Entries")) >= {*FORMULA_KEYS}
    assert set(formula_words("Functions")) == {*HELPERS}
    assert set(formula_words("Forward formulas")) >= {*FORWARD_FORMS}


def test_the_page_of_schemas_has_every_type() -> None:
    assert set(type_words()) == {*BaseTy.__members__, "Dict"}
