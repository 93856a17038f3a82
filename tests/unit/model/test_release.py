"""Which PyTorch release a file belongs to, judged by the tags that it declares."""

from __future__ import annotations

import pytest

from opgen.model.profile import Rule, holds
from opgen.parse.files.native_functions import builtin_tags

_2_0 = (
    *("core", "data_dependent_output", "dynamic_output_shape", "generated", "inplace_view"),
    *("nondeterministic_bitwise", "nondeterministic_seeded", "pointwise", "view_copy"),
)


@pytest.mark.parametrize("rule", Rule)
def test_an_old_release_does_not_have_the_rule(rule: Rule) -> None:
    assert not holds(rule, _2_0)


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("tags", [builtin_tags().names, (), ("core", "mine")], ids=len)
def test_today_and_elsewhere_every_rule_holds(rule: Rule, tags: tuple[str, ...]) -> None:
    """Protects libraries with a tags.yaml of their own: it is not taken for one of an old PyTorch."""
    assert holds(rule, tags)


def test_a_tag_declared_since_shows_the_rule() -> None:
    tags = (*_2_0, "pt2_compliant_tag")
    assert holds(Rule.RANDOM_BY_ARGUMENT_NAME, tags)
    assert not holds(Rule.VARIANTS_OF_CORE_COMPOSITES, tags)


def test_2_5_does_not_have_the_rules_of_2_6_and_2_7() -> None:
    tags = (*_2_0, "pt2_compliant_tag", "needs_fixed_stride_order", "flexible_layout")
    assert not holds(Rule.VARIANTS_OF_CORE_COMPOSITES, tags)
    assert not holds(Rule.NO_CONST_REF_TO_OUTS, tags)
