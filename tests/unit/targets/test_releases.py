"""Python code, opgen/core/release.h and docs/reference/torch.md agree about PyTorch's releases."""

from __future__ import annotations

import re

from opgen.targets.base import PYTORCH, TAG_SINCE, UNREGISTERED_TAGS, spell_tags
from support.build import REPOSITORY, RUNTIME
from support.torch_headers import RELEASES

HEADER = (RUNTIME / "torch" / "include" / "opgen" / "core" / "release.h").read_text()
EVIDENCE = (REPOSITORY / "tests" / "RESULTS.md").read_text()
PAGE = (REPOSITORY / "docs" / "reference" / "torch.md").read_text()


def test_the_header_has_the_same() -> None:
    tags = dict(re.findall(r"^OPGEN_TAG\((\w+)\) *// since (\S+)$", HEADER, re.MULTILINE))
    wanted = {tag: since for tag, since in TAG_SINCE.items() if tag not in UNREGISTERED_TAGS}
    assert tags == {tag: f"{major}.{minor}" for tag, (major, minor) in wanted.items()}
    major, minor = PYTORCH.oldest
    assert f"TORCH_VERSION_MAJOR == {major} && TORCH_VERSION_MINOR < {minor})" in HEADER
    assert f"opgen needs {major}.{minor} or newer" in HEADER


def test_no_other_header_tests_the_release() -> None:
    """Protects the rule that differences between releases are in release.h only."""
    others = sorted((RUNTIME / "torch").rglob("*.h"))
    asking = [path.name for path in others if "TORCH_VERSION" in path.read_text()]
    assert asking == ["release.h"]


def test_the_tested_releases_are_those_that_are_promised() -> None:
    found = [tuple(map(int, release.split(".")[:2])) for release in RELEASES]
    assert (min(found), max(found)) == (PYTORCH.oldest, PYTORCH.newest)
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \|", EVIDENCE, re.MULTILINE)
    assert tuple(rows) == RELEASES
    for tag in UNREGISTERED_TAGS:
        assert f"`{tag}`" in PAGE


def test_tags_that_a_release_lacks() -> None:
    """Protects generated text, which is the same for all releases."""
    assert spell_tags(()) == "{}"
    assert spell_tags(("core", "pointwise")) == "{at::Tag::core, at::Tag::pointwise}"
    assert spell_tags(("inplace", "pointwise", "reduction")) == (
        "{opgen::tags_there_are<opgen::tag::inplace, opgen::tag::reduction>({at::Tag::pointwise})}"
    )
