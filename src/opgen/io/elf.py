"""Read which section each symbol of a linked library is in: ELF, the format of Linux and BSD."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

_MAGIC = b"\x7fELF"
_SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
_SPECIAL = 0xFF00  # Numbers from here on do not name a section.


class _Layout(Struct, frozen=True):
    """The forms of a file's headers, and where the values that we need are in them."""

    order: str
    # The offset of the table of sections, then their size and number, and the section of their names.
    file_header: str
    # The name, type, offset, size and link of a section.
    section: str
    # The name and the section of a symbol.
    symbol: str


_WIDE = ("40xQ10xHHH", "II16xQQI20x", "I2xH16x")
_NARROW = ("32xI10xHHH", "II8xIII12x", "I10xH")


class _Section(Struct, frozen=True):
    name: int
    kind: int
    offset: int
    size: int
    link: int


def sections_of_symbols(path: Path) -> Mapping[str, str]:
    """Return the name of the section that each symbol is defined in, by the symbol's name as the linker knows it.

    Symbols without a section are left out. In a stripped file, only the symbols that other libraries can see are left.
    Raises ValueError if the file is not ELF or is damaged, and OSError if it cannot be read.
    """
    content = path.read_bytes()
    try:
        return dict(_symbols(content))
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"{path} is damaged") from error


def _symbols(content: bytes) -> Iterator[tuple[str, str]]:
    layout = _layout(content)
    start, size, number, names = struct.unpack_from(layout.order + layout.file_header, content)
    form = layout.order + layout.section
    sections = [
        _Section(*struct.unpack_from(form, content, start + i * size)) for i in range(number)
    ]
    texts = [_text(content, sections[names], section.name) for section in sections]
    for section in sections:
        if section.kind in _SYMBOL_TABLES:
            held = content[section.offset : section.offset + section.size]
            for name, where in struct.iter_unpack(layout.order + layout.symbol, held):
                if name and 0 < where < _SPECIAL:
                    yield _text(content, sections[section.link], name), texts[where]


def _layout(content: bytes) -> _Layout:
    if content[:4] != _MAGIC:
        raise ValueError("it is not an ELF file")
    order = {1: "<", 2: ">"}.get(content[5])
    forms = {1: _NARROW, 2: _WIDE}.get(content[4])
    if order is None or forms is None:
        raise ValueError("it is an ELF file of an unknown form")
    return _Layout(order, *forms)


def _text(content: bytes, strings: _Section, offset: int) -> str:
    begin = strings.offset + offset
    return content[begin : content.index(b"\0", begin)].decode(errors="replace")
