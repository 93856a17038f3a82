"""Custom classes in schemas: the head of the YAML names those that a header defines; operators with others are left
out.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.pipeline.importing import Imports, import_operators

HEADER = "namespace demo {\nnamespace boxes {\n%s\n}\n}\n"
OPS = """\
#include "boxes.h"

TORCH_LIBRARY(demo, m) {
  m.class_<demo::boxes::Box>("Crate").def(torch::init<>());
  m.def("open(__torch__.torch.classes.demo.Crate x) -> Tensor");
  m.def("plain(Tensor x) -> Tensor");
}
"""
HEAD = """\
- classes:
    demo.Crate:
      type: ::demo::boxes::Box
      header: boxes.h
      # define: the function that registers the class, if this library must register it before the schemas
"""


def imported(header: str, folder: Path) -> tuple[str, list[str]]:
    (folder / "boxes.h").write_text(header)
    (folder / "ops.cpp").write_text(OPS)
    diagnostics = Diagnostics()
    made = import_operators(Imports((str(folder),)), diagnostics)
    assert made is not None
    assert made.schemas == made.texts[""].count("\n- func")
    return made.texts[""], [item.code for item in diagnostics]


@pytest.mark.parametrize(
    "definition",
    [
        "struct Box : torch::CustomClassHolder { int n; };",
        "class DEMO_API Box final : public torch::CustomClassHolder {};",
        "class Other;\nclass Box;\nstruct [[nodiscard]] Box {};",
    ],
)
def test_a_class_of_a_header_is_named(definition: str, tmp_path: Path) -> None:
    text, codes = imported(HEADER % definition, tmp_path)
    assert f"\n{HEAD}\n- func: demo::open(" in text and codes == ["W1176"]


@pytest.mark.parametrize(
    "definition",
    ["class Box;", "enum class Box { a };", "#if 0\nstruct Box {};\n#endif", "struct Boxes {};"],
)
def test_an_operator_of_an_unknown_class_is_a_comment(definition: str, tmp_path: Path) -> None:
    text, codes = imported(HEADER % definition, tmp_path)
    assert "classes" not in text.partition("- func")[0].partition("# Left out")[0]
    why = "# Left out: no given header defines the custom class 'demo.Crate'."
    schema = "demo::open(__torch__.torch.classes.demo.Crate x) -> Tensor"
    assert f"{why}\n# - func: {schema}\n" in text
    assert codes == ["W1176", "W1176"] and "\n- func: demo::plain(Tensor x)" in text
