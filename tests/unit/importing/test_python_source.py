"""Registrations in Python: each form by itself. All of them together are in tests/differential/importing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from importing_unit_support import Found, read

from opgen.diagnostics import Source
from opgen.importing.python.module import NotPython, read_python
from opgen.importing.python.schema import NoSchema, infer_schema

HEAD = """\
import collections.abc
import typing
from typing import List, Optional, Sequence, Tuple, Union
import torch
import torch.types
from torch import Tensor, dtype
from torch.types import Number
N = 3
TEXT = "text"
Shape = Sequence[int]
"""
SIGNATURES = [
    "(x: Tensor) -> Tensor",
    "(x: torch.Tensor, n: int = 3, *, p: float = 1e-05, q: bool = True) -> None",
    "(x: Optional[Tensor], y: Tensor | None, z: Union[None, Tensor] = None) -> int",
    "(x: List[Tensor], y: list[Tensor], z: Sequence[Tensor], w: collections.abc.Sequence[Tensor]) -> float",
    "(x: list[Optional[Tensor]], y: Sequence[Tensor | None]) -> bool",
    "(x: Optional[List[int]] = None, y: Sequence[float] | None = None, z: Optional[bool] = None) -> Number",
    "(x: str, y: Optional[str] = 'a, b', z: str = \"it's\") -> List[Tensor]",
    "(x: Number, y: List[Number], z: Optional[Number] = 2, w: Union[int, float, bool] = 1.5) -> list[Tensor]",
    "(x: dtype, y: Optional[torch.dtype] = None, z: torch.dtype = torch.float16) -> Tuple[Tensor, int]",
    "(x: torch.device, y: torch.device | None = None, z: dtype = torch.half) -> tuple[Tensor]",
    "(n: int = N, m: int = -1, p: float = -2.5, q: float = 1, s: str = TEXT) -> Tensor",
    "(x: Shape, y: 'Tensor', w: \"list[int]\", z: 'Optional[int]' = None) -> 'Tensor'",
    "(x: typing.Optional[typing.Sequence[int]], y: typing.List[Tensor]) -> typing.Tuple[Tensor, typing.List[Tensor]]",
    "(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor",
]
REFUSED = [
    "(x) -> Tensor",
    "(x: Tensor)",
    "(*x: Tensor) -> Tensor",
    "(x: Tensor, /) -> Tensor",
    "(**x: Tensor) -> Tensor",
    "(x: Tuple[int, int]) -> Tensor",
    "(x: dict[str, Tensor]) -> Tensor",
    "(x: Optional[List[Tensor]]) -> Tensor",
    "(x: List[List[int]]) -> Tensor",
    "(x: List[str]) -> Tensor",
    "(x: Tensor) -> Optional[Tensor]",
    "(x: Tensor) -> Sequence[Tensor]",
    "(x: Tensor) -> str",
    "(x: Tensor, n: int = (1, 2)) -> Tensor",
    "(x: object) -> Tensor",
    "(x: Union[int, str]) -> Tensor",
]
WRITTEN: list[object] = [(), ["x"], "unknown"]


def ours(signature: str, mutates: object) -> str:
    module = read_python(Source("a.py", f"{HEAD}\ndef f{signature}: ...\n"))
    function = module.functions["f"][0]
    assert isinstance(mutates, str | list | tuple)
    return infer_schema(module, function, (), mutates)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("mutates", WRITTEN, ids=str)
@pytest.mark.parametrize("signature", [*SIGNATURES, *REFUSED])
def test_schemas_are_those_that_torch_infers(signature: str, mutates: object) -> None:
    """Compared with torch.library.infer_schema: the same text, or both reject the function."""
    import torch  # noqa: PLC0415

    names: dict[str, object] = {}
    code = compile(f"{HEAD}\ndef f{signature}: ...\n", "a.py", "exec", dont_inherit=True)
    exec(code, names)
    try:
        theirs = torch.library.infer_schema(names["f"], mutates_args=mutates)
    except ValueError:
        with pytest.raises(NoSchema):
            ours(signature, mutates)
        return
    assert ours(signature, mutates) == theirs


def test_unknown_arguments_are_not_written() -> None:
    with pytest.raises(NoSchema, match="mutates_args has 'y'"):
        ours("(x: Tensor) -> Tensor", ["y"])


def python(folder: Path, text: str, **files: str) -> Found:
    named = {f"{name}.py": content for name, content in files.items()}
    return read(folder, {**named, "ops.py": f"import torch\n{text}\n"})


@pytest.mark.parametrize(
    "text",
    [
        'lib = torch.library.Library("demo", "DEF")\nlib.define("f() -> ()")',
        'from torch.library import Library as L\nL("demo", "FRAGMENT").define("f() -> ()")',
        'import torch.library as tl\ntl.Library(ns="demo", kind="DEF").define(schema="f() -> ()")',
        'NS = "demo"\nlib: object = torch.library.Library(NS, "DEF")\nlib.define("f()" + " -> ()")',
        'def g():\n    lib = torch.library.Library("demo", "DEF")\n    lib.define("f() -> ()")',
        'lib = torch.library.Library("other", "DEF")\ndef g():\n    lib = torch.library.Library("demo", "DEF")\n    lib.define("f() -> ()")',
        'torch.library.define("demo::f", "() -> ()")',
        'from torch.library import define\nNAME = "f"\ndefine(f"demo::{NAME}", "() -> ()")',
        'if (lib := torch.library.Library("demo", "DEF")):\n    lib.define("f() -> ()")',
        'from lib import demo_lib\ndemo_lib.define("f() -> ()")',
        'getattr(torch.library, "define")("demo::f", "() -> ()")',
        'from torch import library\nW = "define"\ngetattr(library, W)("demo::f", "() -> ()")',
        'lib = torch.library.Library("demo", "DEF")\ngetattr(lib, "define", None)("f() -> ()")',
        'for w in ("define",):\n    getattr(torch.library, w)("demo::f", "() -> ()")',
        'd = getattr(torch.library, "define")\nd("demo::f", "() -> ()")',
    ],
)
def test_ways_to_define(text: str, tmp_path: Path) -> None:
    other = 'import torch.library\ndemo_lib = torch.library.Library("demo", "FRAGMENT")\n'
    found = python(tmp_path, text, lib=other)
    assert (found.schemas, found.codes) == (["demo::f() -> ()"], [])


DEMO = 'lib = torch.library.Library("demo", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n'


@pytest.mark.parametrize(
    "text",
    [
        'lib.impl("f", lambda x: x, "CPU")',
        "lib.impl(torch.ops.demo.f, lambda x: x)",
        '@torch.library.impl(lib, "f", "CPU")\ndef g(x): ...',
        '@torch.library.impl("demo::f", ("cpu", "cuda"))\ndef g(x): ...',
        'torch.library.impl("demo::f", "cpu")(lambda x: x)',
        '@torch.library.register_fake("demo::f")\ndef g(x): ...',
        'torch.library.register_fake("demo::f", lambda x: x)',
        'torch.library.register_kernel("demo::f", "cpu", lambda x: x)',
        'torch.library.register_autograd("demo::f", lambda c, g: g)',
        'if hasattr(torch.library, "x"):\n    from torch.library import register_fake\nelse:\n'
        '    from torch.library import impl_abstract as register_fake\nregister_fake("demo::f")(g)',
        '@torch.library.impl_abstract("demo::f")\ndef g(x): ...',
        '@getattr(torch.library, "register_fake")("demo::f")\ndef g(x): ...',
        'getattr(torch.library, "register_fake")("demo::f")(g)',
        'getattr(lib, "impl")("f", lambda x: x, "CPU")',
    ],
)
def test_kernels_stay_in_python(text: str, tmp_path: Path) -> None:
    found = python(tmp_path, DEMO + text)
    assert found.codes == ["W1164"] and found.rows("demo::f") == {}


def test_a_fallthrough_is_a_row(tmp_path: Path) -> None:
    text = 'lib.impl("f", torch.library.fallthrough_kernel, "AutocastCPU")'
    found = python(tmp_path, DEMO + text)
    assert (found.rows("demo::f"), found.codes) == ({"AutocastCPU": "fallthrough"}, [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("lib.define(name)", "W1160"),
        ('name = {"g": "h"}[name]\nlib.define(name)', "W1160"),
        ('lib.define("f(" + str(1) + ") -> ()")', "W1160"),
        ("lib.define(some().strip())", "W1160"),
        ("for n in some().split():\n    lib.define(n)", "W1160"),
        ('lib.define("g(")', "W1169"),
        ('lib.define("other::g() -> ()")', "W1170"),
        ('lib.define("g() -> ()", tags=some)', "W1160"),
        ('lib.define("g() -> ()", "SPECIAL")', "W1176"),
        ('lib.define("g(Tensor(a!) x) -> ()", "CONSERVATIVE")', "W1176"),
        ('lib.fallback(f, "XPU")', "W1163"),
        ('torch.library.custom_op("demo::g", mutates_args=())(elsewhere)', "W1165"),
        ('torch.library.Library("../../etc", "DEF").define("g() -> ()")', "W1160"),
        ('lib.impl("f", torch.library.fallthrough_kernel, "CPU: x")', "W1177"),
    ],
)
def test_unsupported_forms(text: str, code: str, tmp_path: Path) -> None:
    found = python(tmp_path, DEMO + text)
    assert found.codes == [code]


def test_a_helper_that_defines_from_a_function(tmp_path: Path) -> None:
    call = (
        "def g(x: torch.Tensor, out: torch.Tensor) -> None: ...\n"
        'direct_register_custom_op(op_name="g", op_func=g, mutates_args=["out"])'
    )
    helper = (
        "import torch.library\nhelp_lib = torch.library.Library('helped', 'FRAGMENT')\n"
        "def direct_register_custom_op(op_name, op_func, mutates_args=None, target_lib=None):\n"
        "    (target_lib or help_lib).define(op_name + make(op_func))\n"
    )
    found = python(tmp_path, call, helper=helper)
    assert found.schemas == ["helped::g(Tensor x, Tensor(a1!) out) -> ()"]
    assert found.codes == ["W1164"]
    (tmp_path / "helper.py").unlink()
    assert python(tmp_path, f"import torch.library\n{call}").codes == ["E1160"]


@pytest.mark.parametrize("text", ["def f(:\n", "\0", "(" * 5000, "x = " + "-" * 50_000 + "1"])
def test_invalid_python(text: str) -> None:
    with pytest.raises(NotPython):
        read_python(Source("a.py", text))


def test_spans_count_characters() -> None:
    module = read_python(Source("a.py", 'é = "ü"; x = f("é", 1)\n'))
    call = module.assigned["x"][0].value
    assert module.span(call).text == 'f("é", 1)'


@pytest.mark.parametrize(
    "text",
    [
        'for n in ("a", "b"):\n    lib.define(f"{n}(Tensor x) -> Tensor")',
        'for n in NAMES:\n    schema = n + "(Tensor x) -> Tensor"\n    lib.define(schema)',
        'for n in [*NAMES]:\n    lib.define("{}(Tensor x) -> {}".format(n, "Tensor"))',
        'for n, kind in KINDS.items():\n    lib.define("%s(%s x) -> Tensor" % (n, kind))',
        'for n in KINDS:\n    lib.define(f"{n}({KINDS[n]} x) -> Tensor")',
        'for n in sorted(KINDS.keys()):\n    lib.define(n + "(Tensor x) -> Tensor")',
        'for n in NAMES[:0] or NAMES:\n    pass\nfor n, _ in zip(NAMES, range(2)):\n    lib.define(n + "(Tensor x) -> Tensor")',
        'for i, n in enumerate(NAMES):\n    torch.library.define(f"demo::{n}", "(Tensor x) -> Tensor")',
        '[lib.define(n + "(Tensor x) -> Tensor") for n in NAMES]',
        'def g():\n    for n in NAMES:\n        for t in ["Tensor"]:\n            lib.define(f"{n}({t} x) -> {t}")',
        'for s in SCHEMAS["all"]:\n    lib.define(s)',
        'for n in ("x",):\n    for n in NAMES:\n        lib.define(n + "(Tensor x) -> Tensor")',
        'for n in ("a",):\n    lib.define(n + "(Tensor x) -> Tensor")\nelse:\n    lib.define("b(Tensor x) -> Tensor")',
        'lib.define(SCHEMAS["all"][0])\nlib.define(SCHEMAS["all"][1])',
        'a, b = "a", "b"\nlib.define(a + "(Tensor x) -> Tensor")\nlib.define(b + "(Tensor x) -> Tensor")',
    ],
)
def test_names_in_lists_and_tables(text: str, tmp_path: Path) -> None:
    """Protects operators that are registered by a loop, or through a table of names."""
    constants = (
        'NAMES = ["a", "b"]\nKINDS = {"a": "Tensor", "b": "Tensor"}\n'
        'SCHEMAS = {"all": ("a(Tensor x) -> Tensor", "b(Tensor x) -> Tensor")}\n'
        'lib = torch.library.Library("demo", "DEF")\n'
    )
    found = python(tmp_path, constants + text)
    assert found.schemas == ["demo::a(Tensor x) -> Tensor", "demo::b(Tensor x) -> Tensor"]
    assert found.codes == []


@pytest.mark.parametrize(
    "text",
    [
        'for n in names():\n    lib.define(n + "() -> ()")',
        'n = "g"\nfor n in names():\n    lib.define(n + "() -> ()")',
        'for n in GROWING:\n    lib.define(n + "() -> ()")',
        'for n in ("g", "h"):\n    if n in SKIPPED:\n        continue\n    lib.define(n + "() -> ()")',
        'lib.define(FILLED["g"])',
        'n = "g"\ndef register(n):\n    lib.define(n + "() -> ()")',
        'n = "g"\nn += suffix\nlib.define(n + "() -> ()")',
        "def register(library: torch.library.Library, schema):\n    library.define(schema)",
        'def register(a_lib, schema):\n    a_lib.impl(schema, g, "CPU")',
        'for n in range(1_000_000):\n    lib.define(f"f{n}() -> ()")',
        'for n in ("g", "h"):\n    n = n + "_out"\n    lib.define(n + "() -> ()")',
        'for n in ("g", "h"):\n    u = n.upper()\n    if u == "G":\n        lib.define(n + "() -> ()")',
        'for n in ("g", "h"):\n    n != "g" and lib.define(n + "() -> ()")',
        'for n in ("g", "h"):\n    lib.define(before + n + "() -> ()")\n    before = "x"',
        '[lib.define(n + "() -> ()") if n == "g" else None for n in ("g", "h")]',
        'ALIAS = ALSO\nALIAS.append("h")\nfor n in ALSO:\n    lib.define(n + "() -> ()")',
        'for n in NESTED["g"]:\n    lib.define(n + "() -> ()")',
        'for n in IMPORTED:\n    lib.define(n + "() -> ()")',
        'lib.define(f"g(str mode={MODE!r}) -> ()")',
        'getattr(torch.library, which)("demo::g", "() -> ()")',
        'getattr(lib, which)("g() -> ()")',
        "registers = getattr(torch.library, which)",
        'for w in ("define",) + more:\n    getattr(torch.library, w)("demo::g", "() -> ()")',
    ],
)
def test_names_known_only_at_run_time_are_reported(text: str, tmp_path: Path) -> None:
    """Protects operators from vanishing, and from names that another assignment has."""
    constants = (
        'GROWING = ["g"]\nGROWING.append("h")\nFILLED = {"g": "g() -> ()"}\nFILLED["g"] = other\n'
        'ALSO = ["g"]\nNESTED = {"g": ["g"]}\nNESTED["g"].append("h")\nMODE = "nearest"\n'
        'try:\n    from other import IMPORTED\nexcept ImportError:\n    IMPORTED = ["g"]\n'
    )
    found = python(tmp_path, constants + DEMO + text)
    assert (found.schemas, found.codes) == (["demo::f(Tensor x) -> Tensor"], ["W1160"])


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('lib.impl(getattr(torch.ops.demo, "f"), g)', ["W1164"]),
        ('for n in ("f",):\n    lib.impl(getattr(torch.ops.demo, n), g)', ["W1164"]),
        ('fake = torch.library.register_fake\n@fake("demo::f")\ndef g(x): ...', ["W1164"]),
        ('from other import fake\n@fake("demo::f")\ndef g(x): ...', ["W1164"]),
        ('from unseen import register_fake\n@register_fake("demo::f")\ndef g(x): ...', ["W1164"]),
        (
            'def same():\n    return torch.library.Library("demo", "IMPL")\nsame().impl("f", g, "CPU")',
            ["W1164"],
        ),
        ("from unseen import op\nop.register_autograd(g)", ["W1160"]),
    ],
)
def test_other_names_of_functions_and_operators(
    text: str, codes: list[str], tmp_path: Path
) -> None:
    """Protects registrations through another name: none is left out without a word."""
    other = "import torch.library\nfake = torch.library.register_fake\n"
    found = python(tmp_path, DEMO + text, other=other)
    assert (found.codes, found.schemas) == (codes, ["demo::f(Tensor x) -> Tensor"])


def test_a_function_in_a_table_is_found(tmp_path: Path) -> None:
    text = (
        "def one(x: torch.Tensor) -> torch.Tensor: ...\ndef two(y: int) -> None: ...\n"
        'for name, function in {"a": one, "b": two}.items():\n'
        '    torch.library.custom_op(f"demo::{name}", mutates_args=())(function)\n'
    )
    found = python(tmp_path, text)
    assert found.schemas == ["demo::a(Tensor x) -> Tensor", "demo::b(SymInt y) -> ()"]


def test_long_sums_of_strings_are_read(tmp_path: Path) -> None:
    """Protects modules whose text has more nested nodes than Python allows nested calls."""
    total = " + ".join(['"a"'] * 2500)
    found = python(tmp_path, f'{DEMO}names = [n for n in ("x",)]\ntext = {total}')
    assert (found.schemas, found.codes) == (["demo::f(Tensor x) -> Tensor"], [])


def test_lists_that_grow_without_end_are_not_expanded(tmp_path: Path) -> None:
    """Protects the time of an import: each list has thirty times the items of the one before it."""
    lists = "".join(f"A{n + 1} = [{f'*A{n}, ' * 30}]\n" for n in range(6))
    text = f'{DEMO}A0 = ["g", "h"]\n{lists}for n in A6:\n    lib.define(n + "() -> ()")'
    found = python(tmp_path, text)
    assert (found.codes, found.schemas) == (["W1160"], ["demo::f(Tensor x) -> Tensor"])
