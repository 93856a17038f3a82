"""The counts and findings of a hunt, kept in a folder so that the next hunt continues from there."""

from __future__ import annotations

import collections
import json
import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Per operator.
_KEPT = 4
_FRAME = re.compile(
    r"#\d+ 0x[0-9a-f]+ in (.+?) (\S+?/(?:runtime|kernels|src|python|include)/\S+?):(\d+)"
)


@dataclass(frozen=True, slots=True)
class Crash:
    """How a process ended unexpectedly, where in our sources, and the report of the sanitizer."""

    kind: str
    where: str
    report: str


def crash_of(said: str, code: int | None, kind: str = "") -> Crash:
    """Summarise a sanitizer's report: its first line, and the first place in our sources."""
    found = re.search(
        r"ERROR: AddressSanitizer:? (\S+)|runtime error: ([^\n]+)|WARNING: ThreadSanitizer: ([^(\n]+)",
        said,
    )
    what = next((group for group in found.groups() if group), "") if found else f"exit code {code}"
    what = re.sub(r"0x[0-9a-f]+|-?\d{2,}", "N", what)
    frames = [
        f"{Path(file).name}:{line} {name.split('(')[0][-60:]}"
        for name, file, line in _FRAME.findall(said)
        if "__interceptor" not in name and "sanitizer" not in file
    ]
    at = re.search(r"(\S+):(\d+):\d+: runtime error", said)
    where = f"{Path(at[1]).name}:{at[2]}" if at else (frames[0] if frames else "")
    return Crash(kind or what, where, said[-12000:])


@dataclass(slots=True)
class Defect:
    """The findings under one key: how often, where first, and a program that shows it."""

    count: int
    operator: str
    text: str
    program: str
    confirmed: bool = False


class Findings:
    """Counts and defects of one part of a hunt, in `folder`/`name`.json, with a program for each defect next to it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        self._file = folder / f"{name}.json"
        self._journal = folder / f"{name}.journal"
        self._new: dict[str, Any] = {}
        self._kept: dict[str, list[Any]] = {}
        (folder / "programs").mkdir(parents=True, exist_ok=True)
        kept = json.loads(self._file.read_text()) if self._file.exists() else {}
        self.rounds: int = kept.get("rounds", 0)
        self.calls = collections.Counter[str](kept.get("calls", {}))
        self.accepted = collections.Counter[str](kept.get("accepted", {}))
        self.kinds = collections.Counter[str](kept.get("kinds", {}))
        self.excepted = collections.Counter[str](kept.get("excepted", {}))
        self.notes: dict[str, dict[str, str]] = kept.get("notes", {})
        self.defects = {key: Defect(**each) for key, each in kept.get("defects", {}).items()}

    @property
    def plans_file(self) -> Path:
        return self._file.with_suffix(".plans")

    @staticmethod
    def all_in(folder: Path) -> list[Findings]:
        return [Findings(folder, file.stem) for file in sorted(folder.glob("*.json"))]

    def journal(self, lines: Sequence[str]) -> None:
        """Write the next call to a file, in case this process does not survive it."""
        self._journal.write_text("\n".join(lines), encoding="utf-8")

    def count(self, operator: str, accepted: bool) -> None:
        self.calls[operator] += 1
        self.accepted[operator] += accepted

    def note(self, kind: str, operator: str, text: str) -> None:
        """Keep one example of a difference that is not a defect."""
        self.notes.setdefault(kind, {}).setdefault(operator, text)

    def keep(self, plan: Any) -> None:
        """Keep a correct call for the other hunts: a few of each operator."""
        kept = self._kept.setdefault(plan.operator, [])
        if len(kept) < _KEPT:
            kept.append(plan)

    def found(
        self, key: str, operator: str, text: str, program: str, report: str, plan: Any = None
    ) -> None:
        self.kinds[key.partition(":")[0]] += 1
        if key in self.defects:
            self.defects[key].count += 1
            return
        name = re.sub(r"[^A-Za-z0-9_.]+", "-", key)[:120]
        file = self.folder / "programs" / f"{name}.py"
        file.write_text(program, encoding="utf-8")
        if report:
            file.with_suffix(".txt").write_text(report, encoding="utf-8")
        if plan is not None:
            file.with_suffix(".plan").write_bytes(pickle.dumps(plan))
            self._new[key] = plan
        self.defects[key] = Defect(1, operator, text, str(file), plan is None)

    def crashed(
        self, crash: Crash, where: str, operator: str, text: str, program: str, plan: Any = None
    ) -> None:
        """Keep how a process ended; `where` is said if it is not known where in our sources."""
        key = f"crash: {crash.kind} at {crash.where or where}"
        self.found(key, operator, text, program, crash.report, plan)

    def unconfirmed(self) -> Iterator[tuple[str, Any]]:
        """Return the findings since the last call."""
        new, self._new = self._new, {}
        yield from new.items()

    def confirm(self, key: str, again: bool) -> None:
        self.defects[key].confirmed = again

    def write(self) -> None:
        if self._kept:
            self.plans_file.write_bytes(pickle.dumps(self._kept))
        kept = {
            "rounds": self.rounds,
            "calls": self.calls,
            "accepted": self.accepted,
            "kinds": self.kinds,
            "excepted": self.excepted,
            "notes": self.notes,
            "defects": {key: asdict(defect) for key, defect in self.defects.items()},
        }
        part = self._file.with_suffix(".part")
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(self._file)
