"""The options of a run, as a command line has them and as a folder's manifest records them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import fields, replace

from opgen.pipeline.inputs import (
    Inputs,
    command_words,
    describe_difference,
    inputs_recorded,
    options_of,
    recorded_options,
)

PLAIN = Inputs(yaml=(Path("leaky.yaml"),))
# A value of each option that is not the default.
VALUES: dict[str, Any] = {
    "tags": Path("tags.yaml"),
    "derivatives": (Path("gradients/a.yaml"), Path("gradients/b.yaml")),
    "include": (Path("headers"),),
    "target": "torch",
    "backends": ("CPU", "CUDA"),
    "ignore_keys": ("MPS",),
    "extends": Path("base/opgen_manifest.json"),
    "name": "other",
    "select": (Path("apps/a.yaml"), Path("apps/b.yaml")),
    "backend_yaml": Path("xla.yaml"),
    "impl_path": Path("xla.cpp"),
    "strict_torchgen": True,
    "namespace": "leaky",
    "shards": 4,
    "python": True,
    "frameworks": ("jax",),
    "torch": "2.12",
}
# Options that only change what is checked or read, or whose effect the manifest records in another way. A folder of
# headers changes the tree only if it contains a header of formulas.
NOT_RECORDED = {"tags", "impl_path", "namespace", "include"}


def header(inputs: Inputs) -> dict[str, Any]:
    """Return the manifest's header after a run with `inputs`, written and read."""
    own = {"target": inputs.target, "name": inputs.name or "leaky"}
    return json.loads(json.dumps({**own, **recorded_options(inputs, "base")}))  # type: ignore[no-any-return]


def test_every_field_is_an_option() -> None:
    """Protects the commands that opgen prints from options that were added later."""
    assert {f.name for f in fields(Inputs)} - {"yaml", "project", "overlay"} == set(VALUES)


def test_the_default_is_no_option_and_leaves_no_record() -> None:
    assert options_of(PLAIN) == () and recorded_options(PLAIN, None) == {}


@pytest.mark.parametrize("name", VALUES)
def test_each_option_is_printed_and_recorded(name: str) -> None:
    """The option is recovered from the manifest, and is reported as the only difference."""
    given = replace(PLAIN, **{name: VALUES[name]})
    option, *_ = options_of(given)
    assert option[0] == "--" + name.replace("_", "-")
    found = inputs_recorded(header(given), header(PLAIN), PLAIN)
    if name in NOT_RECORDED:
        assert found is None
        return
    assert found is not None
    assert {o[0] for o in options_of(found)} == {option[0]}
    assert describe_difference(found, PLAIN).startswith(f"with {option[0]}")
    assert describe_difference(PLAIN, found).startswith(f"without {option[0]}")
    assert inputs_recorded(header(given), header(given), given) is None


def test_records_have_names_of_files_and_no_folders() -> None:
    """Protects trees in version control: a record is the same on every machine."""
    given = replace(
        PLAIN,
        select=(Path("/home/me/app.yaml"),),
        extends=Path("/home/me/base/opgen_manifest.json"),
        backend_yaml=Path("/home/me/xla.yaml"),
    )
    assert recorded_options(given, "aten") == {
        "options": {"backend_yaml": "xla.yaml", "extends": "aten", "select": ["app.yaml"]}
    }
    again = inputs_recorded(header(given), header(PLAIN), replace(given, extends=None))
    assert again is not None and again.select == given.select


def test_a_difference_shows_the_value_of_the_folder() -> None:
    was, now = replace(PLAIN, shards=2), replace(PLAIN, shards=4, python=True)
    assert describe_difference(was, now) == "with --shards 2 and without --python"


@pytest.mark.parametrize(
    "broken",
    [
        {"options": 3},
        {"options": {"select": "a.yaml"}},
        {"options": {"select": [3]}},
        {"options": {"extends": 3}},
        {"target": None},
    ],
    ids=str,
)
def test_a_manifest_of_another_form_gives_no_options(broken: dict[str, object]) -> None:
    assert inputs_recorded({**header(PLAIN), **broken}, header(PLAIN), PLAIN) is None


def test_commands_are_quoted_for_a_shell() -> None:
    words = command_words("opgen", "check", Path("my ops.yaml"), options=[("--shards", "4")])
    assert words == "opgen check 'my ops.yaml' --shards 4"


def test_a_folder_with_a_header_of_formulas_is_recorded(tmp_path: Path) -> None:
    """Protects `opgen check` after `opgen build`, which looks for headers beside the kernels."""
    (tmp_path / "derivatives.yaml").write_text("- include: formulas.h\n")
    (tmp_path / "csrc").mkdir()
    plain = replace(PLAIN, yaml=(tmp_path / "leaky.yaml",))
    given = replace(plain, include=(tmp_path / "csrc", tmp_path))
    assert recorded_options(given, None) == {}
    (tmp_path / "csrc" / "formulas.h").touch()
    assert recorded_options(given, None) == {"options": {"include": ["csrc"]}}
    found = inputs_recorded(header(given), header(plain), given)
    assert found is not None and found.include == (tmp_path / "csrc",)
    (tmp_path / "formulas.h").touch()
    assert recorded_options(given, None) == {}
