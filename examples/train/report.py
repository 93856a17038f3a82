"""Compare the losses of four trainings, and draw them.

    python report.py FOLDER   read nn.txt, cpp.txt, runtime.txt and torch.txt; write losses.csv and loss.svg
    python report.py          read losses.csv; fail if loss.svg or README.md do not show these losses

Both print a table, and fail if a loss differs by 1e-5 or more from that of torch.nn.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

HERE = Path(__file__).parent
NAMES = {
    "nn": "torch.nn",
    "cpp": "C++, opgen's runtime",
    "runtime": "Python, opgen's runtime",
    "torch": "Python, PyTorch",
}
TOLERANCE = 1e-5
Losses = dict[str, list[float]]


def read(folder: Path) -> Losses:
    return {
        name: [float(x) for x in (folder / f"{name}.txt").read_text().split()] for name in NAMES
    }


def read_csv(file: Path) -> Losses:
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [float(row[name]) for row in rows] for name in NAMES}


def write_csv(losses: Losses, file: Path) -> None:
    with file.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(["step", *NAMES])
        for step, row in enumerate(zip(*losses.values(), strict=True)):
            writer.writerow([step, *(f"{value:.8f}" for value in row)])


def differences(losses: Losses) -> dict[str, float]:
    """Return the largest difference from torch.nn of each other training."""
    wanted = losses["nn"]
    return {
        name: max(abs(a - b) for a, b in zip(found, wanted, strict=True))
        for name, found in losses.items()
        if name != "nn"
    }


def table(losses: Losses) -> str:
    """Return every tenth loss, and the largest differences, as text."""
    lines = ["step  " + "  ".join(NAMES.values())]
    steps = len(losses["nn"])
    for step in [*range(0, steps, 10), steps - 1]:
        cells = (f"{losses[name][step]:<{len(title)}.6f}" for name, title in NAMES.items())
        lines.append(f"{step:4}  {'  '.join(cells)}".rstrip())
    worst = max(differences(losses).values())
    lines.append(
        f"The losses of {steps} steps differ from those of torch.nn by at most {worst:.0e}."
    )
    return "\n".join(lines) + "\n"


def picture(losses: Losses) -> str:
    """Return the curves as SVG: torch.nn as a broad line, and the others on top of it."""
    left, top, width, height, highest = 48, 16, 560, 240, 1.4
    steps = len(losses["nn"])

    def x(step: float) -> float:
        return left + width * step / steps

    def y(loss: float) -> float:
        return top + height * (1 - loss / highest)

    def text(at: tuple[float, float], words: str, anchor: str = "middle") -> str:
        return f'<text x="{at[0]:.1f}" y="{at[1]:.1f}" text-anchor="{anchor}">{words}</text>'

    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="304" viewBox="0 0 640 304"'
        ' font-family="sans-serif" font-size="12">',
        '<rect width="640" height="304" fill="white"/>',
    ]
    for tick in range(0, 15, 2):
        row = y(tick / 10)
        lines.append(f'<path d="M{left} {row:.1f}h{width}" stroke="#ddd"/>')
        lines.append(text((left - 8, row + 4), f"{tick / 10:.1f}", "end"))
    for step in range(0, steps + 1, 20):
        lines.append(text((x(step), top + height + 18), str(step)))
    lines.append(text((left + width / 2, top + height + 36), "step"))
    lines.append(text((left + 6, top + 12), "loss", "start"))
    styles = {
        "nn": 'stroke="#9ec5e8" stroke-width="7"',
        "cpp": 'stroke="#1f4e79" stroke-width="2"',
        "runtime": 'stroke="#e07b00" stroke-width="2" stroke-dasharray="6 6"',
        "torch": 'stroke="#2e8b57" stroke-width="4" stroke-dasharray="2 10"',
    }
    for place, (name, style) in enumerate(styles.items()):
        points = " ".join(f"{x(i):.1f},{y(loss):.1f}" for i, loss in enumerate(losses[name]))
        lines.append(f'<polyline points="{points}" fill="none" {style}/>')
        row = top + 20 + 20 * place
        lines.append(f'<path d="M410 {row}h30" {style}/>')
        lines.append(text((450, row + 4), NAMES[name], "start"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def main() -> None:
    if len(sys.argv) > 1:
        losses = read(Path(sys.argv[1]))
        write_csv(losses, HERE / "losses.csv")
        (HERE / "loss.svg").write_text(picture(losses))
    else:
        losses = read_csv(HERE / "losses.csv")
        if (HERE / "loss.svg").read_text() != picture(losses):
            sys.exit("loss.svg does not show losses.csv")
        if f"```text\n{table(losses)}```" not in (HERE / "README.md").read_text():
            sys.exit(f"README.md does not show losses.csv:\n{table(losses)}")
    print(table(losses), end="")
    if max(differences(losses).values()) >= TOLERANCE:
        sys.exit("the losses differ")


if __name__ == "__main__":
    main()
