"""Numbers that tests record: added up and printed at the end of the run, also with pytest-xdist.

A test calls `record_property("numerics: inputs compared", 2400)`; equal names become one line of the summary.
"""

from __future__ import annotations

import collections
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    totals: collections.Counter[str] = collections.Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for name, value in report.user_properties:
                    totals[name] += value if isinstance(value, int) and ": " in name else 0
    for name, total in totals.items():
        if total:
            terminalreporter.write_line(f"{name}: {total:,}")
