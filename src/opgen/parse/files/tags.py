"""Parse a tags.yaml as the set of tags that entries may have."""

from __future__ import annotations

from opgen import data
from opgen.diagnostics import Diagnostics, Source, until_too_many
from opgen.diagnostics.suggestions import shorten
from opgen.model.cpp_words import is_identifier
from opgen.model.profile import Tag, TagSet
from opgen.parse.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode, compose


@until_too_many(lambda: TagSet(()))
def parse_tags(source: Source, diagnostics: Diagnostics) -> TagSet:
    """Parse the tags that `source` declares. The first declaration of a name counts."""
    root = compose(source, diagnostics)
    if root is None:
        return TagSet(())
    if not isinstance(root, SequenceNode):
        diagnostics.error("E0104", "tags.yaml is a list of tags", root.span)
        return TagSet(())
    tags: dict[str, Tag] = {}
    for item in root.items:
        tag = _parse_tag(item, diagnostics)
        if tag is not None:
            tags.setdefault(tag.name, tag)
    return TagSet(tuple(tags.values()))


def builtin_tags() -> TagSet:
    """Return PyTorch's tags, the default without a tags.yaml."""
    diagnostics = Diagnostics()
    tags = parse_tags(Source("opgen/data/tags.yaml", data.read_text("tags.yaml")), diagnostics)
    assert not diagnostics.has_errors
    return tags


def _parse_tag(node: Node, diagnostics: Diagnostics) -> Tag | None:
    if not isinstance(node, MappingNode):
        diagnostics.error("E0105", "an entry is a mapping with 'tag' and 'desc'", node.span)
        return None
    name, desc = node.get("tag"), node.get("desc")
    for key, value in (("tag", name), ("desc", desc)):
        if not isinstance(value, ScalarNode) or not value.value or value.kind == "null":
            message = f"'{key}' is missing" if value is None else f"'{key}' is not a string"
            diagnostics.error("E0111", message, node.span if value is None else value.span)
            return None
    assert isinstance(name, ScalarNode) and isinstance(desc, ScalarNode)
    if not is_identifier(name.value):
        message = f"'{shorten(name.value)}' is not the name of a tag"
        diagnostics.error("E0111", message, name.span, hint="letters, digits and '_'")
        return None
    return Tag(name.value, desc.value)
