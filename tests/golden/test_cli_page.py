"""docs/reference/cli.md says what `--help` says: both are made from the same records.

`OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_cli_page.py` writes the page.
"""

from __future__ import annotations

import os
import re

from opgen.cli.main import COMMANDS
from support.cli_page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    """Protects the reference from an option, a default or an exit code that changed."""
    text = page()
    if os.environ.get("OPGEN_UPDATE_GOLDEN") == "1":
        PAGE.write_text(text, encoding="utf-8")
    command = "OPGEN_UPDATE_GOLDEN=1 pytest tests/golden/test_cli_page.py"
    assert PAGE.read_text(encoding="utf-8") == text, f"{PAGE.name} is out of date; run {command}"


def test_every_command_has_its_section() -> None:
    assert sorted(re.findall(r"^## opgen (\S+)$", page(), re.MULTILINE)) == sorted(COMMANDS)
