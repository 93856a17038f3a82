"""A command imports only the modules that it needs: imports take most of the time of a small run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from opgen.cli.main import COMMANDS, main


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--version"], ("opgen.pipeline", "yaml", "jinja2", "pygls", "jsonschema")),
        (["completion", "bash"], ("pygls", "jsonschema")),
        (
            ["lint", "no.yaml"],
            ("pygls", "jsonschema", "jinja2", "opgen.emit", "opgen.io.writer"),
        ),
    ],
)
def test_modules_that_are_not_imported(arguments: list[str], absent: tuple[str, ...]) -> None:
    program = (
        "import sys\nfrom opgen.cli.main import main\n"
        "try:\n    main(prog_name='opgen')\nexcept SystemExit:\n    pass\n"
        f"print('loaded', [name for name in {absent!r} if name in sys.modules])\n"
    )
    command = [sys.executable, "-c", program, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "loaded []"


# Only commands that compare files or draw bars need these.
NOT_FOR_GENERATING = ("difflib", "opgen.lsp", "opgen.compat")


def test_modules_that_generating_does_not_import(tmp_path: Path) -> None:
    """The second run compiles no template either: the first has stored the bytecode."""
    (tmp_path / "a.yaml").write_text("- func: a(Tensor self) -> Tensor\n")
    program = (
        "import sys, jinja2\nfrom opgen.cli.main import main\n"
        "compile = jinja2.Environment.compile\ncompiled = []\n"
        "jinja2.Environment.compile = lambda *a: (compiled.append('templates'), compile(*a))[1]\n"
        "main(standalone_mode=False)\n"
        f"print(*compiled[:1], *(name for name in {NOT_FOR_GENERATING} if name in sys.modules))\n"
    )
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "kept")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    found = []
    for folder in ("first", "second"):
        # Click imports difflib when it looks up a short option.
        told = [str(tmp_path / "a.yaml"), "--output", str(tmp_path / folder)]
        command = [sys.executable, "-c", program, "generate", *told, "--namespace", "aten"]
        result = subprocess.run(
            command, capture_output=True, text=True, check=True, env=environment
        )
        found.append(result.stdout.splitlines()[-1])
    assert found == ["templates", ""]


def test_every_command_is_found_by_its_name() -> None:
    context = main.make_context("opgen", ["lsp"])
    found = {name: main.get_command(context, name) for name in main.list_commands(context)}
    assert {name: command and command.name for name, command in found.items()} == {
        name: name for name in COMMANDS
    }
    assert main.get_command(context, "os") is None


def test_the_package_imports_its_names_on_demand() -> None:
    program = (
        "import sys, opgen\nassert 'opgen.pipeline' not in sys.modules\n"
        "from opgen import load\nassert load is opgen.load\nopgen.nothing\n"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr.splitlines()[-1] == (
        "AttributeError: module 'opgen' has no attribute 'nothing'"
    )


def test_only_verify_needs_its_packages() -> None:
    """Protects users without NumPy and hypothesis: opgen's own dependencies are enough for each other command."""
    absent = "import sys; sys.modules.update(dict.fromkeys(('numpy', 'hypothesis', 'pygls')));"
    absent += "from opgen.cli.main import COMMANDS, main;"
    each = "[main.get_command(None, n) for n in COMMANDS if n != 'verify']; print('all')"
    found = subprocess.run([sys.executable, "-c", absent + each], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("all\n", "")
    command = [sys.executable, "-c", absent + "main()", "verify", "--load", "any.so"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        "error: opgen verify needs hypothesis and numpy: "
        "pip install 'hypothesis>=6.100' 'numpy>=1.24'\n"
    )
