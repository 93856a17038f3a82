"""The properties by their names, and their codes: headings of docs/reference/verify-properties.md."""

from __future__ import annotations

from itertools import pairwise

from opgen.data import read_sections

_HEADINGS = [text.split(": ") for text in read_sections("reference/verify-properties")]
PROPERTIES = {name: code for code, *names in _HEADINGS for name in names}
NAMES = {code: name for name, code in PROPERTIES.items()}
# The families of properties, by the beginnings of their codes: each heading of one is in front of its first property.
FAMILIES = tuple((after[0][:4], one[0]) for one, after in pairwise(_HEADINGS) if len(one) == 1)
