"""Collect the diagnostic codes of all stages."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.autograd.codes import CODES as AUTOGRAD_CODES
from opgen.compat import CODES as COMPAT_CODES
from opgen.cpp import backend_check
from opgen.cpp import check as cpp_check
from opgen.diagnostics import LIMIT_CODES
from opgen.diagnostics.codes import Code, collect_codes
from opgen.importing.common.codes import CODES as IMPORT_CODES
from opgen.io.codes import CODES as FILE_CODES
from opgen.lints import CODES as LINT_CODES
from opgen.parse import CODES as PARSE_CODES
from opgen.python.codes import CODES as PYTHON_CODES
from opgen.resolve import CODES as RESOLVE_CODES
from opgen.targets import functionalization, required_package, stable, unsupported

CODES: Mapping[str, Code] = collect_codes(
    LIMIT_CODES,
    PARSE_CODES,
    RESOLVE_CODES,
    AUTOGRAD_CODES,
    COMPAT_CODES,
    PYTHON_CODES,
    cpp_check.CODES,
    backend_check.CODES,
    unsupported.CODES,
    functionalization.CODES,
    required_package.CODES,
    stable.CODES,
    LINT_CODES,
    FILE_CODES,
    IMPORT_CODES,
)
