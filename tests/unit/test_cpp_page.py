"""docs/guides/cpp.md lists the headers of a library and the functions that they declare: those that opgen generates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

import opgen
from support.build import REPOSITORY

PAGE = (REPOSITORY / "docs" / "guides" / "cpp.md").read_text(encoding="utf-8")
PAGE = PAGE.split("## Headers and functions of a library\n")[1].split("\n## ")[0]


@pytest.fixture
def texts(tmp_path: Path) -> Mapping[str, str]:
    (example,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    file = tmp_path / "leaky.yaml"
    file.write_text(example)
    return opgen.generate(opgen.Inputs(file))


def plain(text: str) -> str:
    """Return the text without line breaks and spaces that mean nothing."""
    return re.sub(r" ?([=(){,&]) ?", r"\1", " ".join(text.split()))


def test_the_headers(texts: Mapping[str, str]) -> None:
    """Protects the table: each header exists, and every header for users is in it."""
    table = PAGE.split("| header | declares |")[1].split("\n\n")[0]
    listed = re.findall(r"`(leaky/[\w/]+\.h)`", table)
    assert listed
    for name in listed:
        assert f"include/{name}" in texts
    above = {Path(name).name for name in texts if re.fullmatch(r"include/leaky/\w+\.h", name)}
    of_keys = {"CompositeImplicitAutogradFunctions.h", "TensorBody.h"}
    of_keys.add("CompositeExplicitAutogradNonFunctionalFunctions.h")
    assert above - of_keys == {Path(name).name for name in listed if "/ops/" not in name}


def test_the_functions(texts: Mapping[str, str]) -> None:
    """Protects the declarations that a reader copies."""
    (block,) = re.findall(r"^```cpp\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    headers = plain(
        "\n".join(texts[f"include/leaky/ops/{n}.h"] for n in ("ramp", "grid", "minmax"))
    )
    declarations = block.splitlines()
    assert len(declarations) == 6
    for declaration in declarations:
        assert f"inline {plain(declaration.removesuffix(';'))}{{" in headers, declaration
