"""Machine programs: G-code as the path of a tool, with rules whose breach would break the machine."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from worksample.kit.check_score import Check
from worksample.kit.source import UnreadableSource
from worksample.kit.text import read_text

from .bands import Bands, compare_artifacts
from .plans import SEGMENT_LIMIT, lines_near, outlines

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class ToolPath:
    """A machine program's moves: `cuts` and `rapids` with the shape (segments, 2 ends, 3 coordinates) in millimetres,
    `feeds` per cut in millimetres per minute, and `spun`: whether the spindle turned at each cut.
    """

    cuts: np.ndarray
    rapids: np.ndarray
    feeds: np.ndarray
    spun: np.ndarray


@dataclass(frozen=True, slots=True)
class MachineRules:
    """Limits that a machine program must never break. safe_z: height in millimetres below which rapid moves may not
    travel sideways. low, high: corners of the working space. feed: largest feed in millimetres per minute. spindle:
    whether the spindle must turn while it cuts. A rule that is None or empty does not apply.
    """

    safe_z: float | None = None
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    feed: float | None = None
    spindle: bool = True


def toolpath(
    got: Path, want: Path, bands: Bands, *, rules: MachineRules | None = None, trivial: Sequence[Path] = ()
) -> Check:
    """Return the share of two G-code programs' cuts that lie near each other, in bands of distance in millimetres.

    The smaller of both directions counts. A program that breaks a rule scores 0: it would break the machine. The
    outline of the bounding box at the lowest height scores 0. Raises DeliverableError if the deliverable is malformed;
    ReferenceUnreadable if the reference is or breaks a rule.
    """
    machine = rules or MachineRules()

    def measure(mine: ToolPath, theirs: ToolPath) -> Check:
        if broken := rule_broken(mine, machine):
            return Check(0.0, broken)
        return lines_near(mine.cuts, theirs.cuts, bands, "")

    def read(path: Path) -> ToolPath:
        found = read_gcode(path)
        if path == want and (broken := rule_broken(found, machine)):
            raise UnreadableSource(f"breaks a rule of the machine: {broken}")
        return found

    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=_contours)


def _contours(theirs: ToolPath) -> Iterable[ToolPath]:
    import numpy as np

    for box in outlines({"": theirs.cuts}):
        one = box[""]
        yield ToolPath(one, theirs.rapids[:0], np.full(len(one), 1.0), np.ones(len(one), dtype=bool))


def rule_broken(path: ToolPath, rules: MachineRules) -> str:
    """Return which rule a program breaks, or ""."""
    import numpy as np

    if rules.spindle and not path.spun.all():
        return "cuts while the spindle stands"
    if rules.feed is not None and len(path.feeds) and path.feeds.max() > rules.feed * (1 + 1e-9):
        return f"feeds at {path.feeds.max():g} mm/min, more than {rules.feed:g}"
    ends = np.concatenate([path.cuts.reshape(-1, 3), path.rapids.reshape(-1, 3)])
    if len(rules.low) and (ends < np.array(rules.low) - 1e-6).any():
        return f"leaves the working space: below {list(rules.low)}"
    if len(rules.high) and (ends > np.array(rules.high) + 1e-6).any():
        return f"leaves the working space: above {list(rules.high)}"
    if rules.safe_z is not None and len(path.rapids):
        sideways = np.abs(path.rapids[:, 1, :2] - path.rapids[:, 0, :2]).max(axis=1) > 1e-6
        low = path.rapids[:, :, 2].min(axis=1) < rules.safe_z - 1e-6
        if (sideways & low).any():
            return f"moves rapidly sideways below {rules.safe_z:g} mm"
    return ""


_WORD = re.compile(r"([A-Z])\s*([+-]?(?:\d+\.?\d*|\.\d+))")
_COMMENT = re.compile(r"\([^)]*\)|;.*")
_SCALE = {20: 25.4, 21: 1.0}


@dataclass
class _Machine:
    """The state of the machine while a program is read."""

    at: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    mode: int = 0
    scale: float = 1.0
    absolute: bool = True
    feed: float = 0.0
    spinning: bool = False
    cuts: list[list[list[float]]] = field(default_factory=list)
    rapids: list[list[list[float]]] = field(default_factory=list)
    feeds: list[float] = field(default_factory=list)
    spun: list[bool] = field(default_factory=list)

    def move(self, end: list[float]) -> None:
        if self.mode == 0:
            self.rapids.append([self.at, end])
        else:
            self.cuts.append([self.at, end])
            self.feeds.append(self.feed)
            self.spun.append(self.spinning)
        self.at = end


def read_gcode(path: Path) -> ToolPath:
    """Read a machine program: G0 to G3, G17, G20, G21, G90, G91, F, M3 to M5, M2 and M30. Positions begin at 0.

    Raises UnreadableSource for any other word that moves the machine, such as canned cycles, subprograms and other
    planes; for a cut without a feed; and for more than `SEGMENT_LIMIT` moves.
    """
    import numpy as np

    machine = _Machine()
    text = read_text(path, 16 << 20).upper()
    for number, line in enumerate(text.splitlines(), 1):
        plain = _COMMENT.sub("", line).strip().strip("%")
        if not plain or plain.startswith("O"):
            continue
        if _WORD.sub("", plain).strip():
            raise UnreadableSource(f"line {number} is not G-code: {plain[:60]!r}")
        if _line(machine, [(letter, float(value)) for letter, value in _WORD.findall(plain)], number):
            break
        if len(machine.cuts) + len(machine.rapids) > SEGMENT_LIMIT:
            raise UnreadableSource(f"has more than {SEGMENT_LIMIT:,} moves")
    if not machine.cuts:
        raise UnreadableSource("cuts nothing")
    cuts, rapids = (np.array(moves, dtype="f8").reshape(-1, 2, 3) for moves in (machine.cuts, machine.rapids))
    if max(np.abs(cuts).max(), np.abs(rapids).max() if len(rapids) else 0) > 1e6:
        raise UnreadableSource("has coordinates beyond 1e6 mm")
    return ToolPath(cuts, rapids, np.array(machine.feeds), np.array(machine.spun))


def _line(machine: _Machine, words: Sequence[tuple[str, float]], number: int) -> bool:
    """Apply a line of a program. Return whether the program ends with it."""
    axes = {letter: value for letter, value in words if letter in "XYZIJR"}
    ends = False
    for letter, value in words:
        if letter == "G":
            _preparatory(machine, value, number)
        elif letter == "M":
            ends |= value in (2, 30)
            machine.spinning = machine.spinning if value not in (3, 4, 5) else value != 5
        elif letter == "F":
            machine.feed = value * machine.scale
        elif letter not in "XYZIJRNSTH":
            raise UnreadableSource(f"line {number}: the word {letter} is not understood")
    if not any(axis in axes for axis in "XYZ"):
        return ends
    end = [
        (machine.at[i] if not machine.absolute else 0.0) + axes[axis] * machine.scale if axis in axes else machine.at[i]
        for i, axis in enumerate("XYZ")
    ]
    if machine.mode and machine.feed <= 0:
        raise UnreadableSource(f"line {number}: cuts without a feed")
    for point in _arc(machine, end, axes, number) if machine.mode in (2, 3) else [end]:
        machine.move(point)
    return ends


def _preparatory(machine: _Machine, value: float, number: int) -> None:
    if value in (0, 1, 2, 3):
        machine.mode = int(value)
    elif value in _SCALE:
        machine.scale = _SCALE[int(value)]
    elif value in (90, 91):
        machine.absolute = value == 90
    elif value not in (4, 17, 40, 49, 54, 61, 64, 80, 94):
        raise UnreadableSource(f"line {number}: G{value:g} is not understood")


def _arc(machine: _Machine, end: list[float], axes: Mapping[str, float], number: int) -> list[list[float]]:
    """Return points along an arc in the plane of x and y, the last of which is its end."""
    x, y, z = machine.at
    if "I" in axes or "J" in axes:
        cx, cy = x + axes.get("I", 0.0) * machine.scale, y + axes.get("J", 0.0) * machine.scale
    elif "R" in axes:
        cx, cy = _centre(machine, end, axes["R"] * machine.scale, number)
    else:
        raise UnreadableSource(f"line {number}: an arc without I, J or R")
    radius = math.hypot(x - cx, y - cy)
    if radius <= 0 or abs(math.hypot(end[0] - cx, end[1] - cy) - radius) > max(0.05, 0.005 * radius):
        raise UnreadableSource(f"line {number}: the arc's ends have different radii")
    start, stop = math.atan2(y - cy, x - cx), math.atan2(end[1] - cy, end[0] - cx)
    turn = (stop - start) if machine.mode == 3 else (start - stop)
    turn = turn % (2 * math.pi) or 2 * math.pi
    steps = max(2, min(720, math.ceil(turn / math.radians(3))))
    part = (turn if machine.mode == 3 else -turn) / steps
    found = [
        [
            cx + radius * math.cos(start + part * i),
            cy + radius * math.sin(start + part * i),
            z + (end[2] - z) * i / steps,
        ]
        for i in range(1, steps)
    ]
    return [*found, end]


def _centre(machine: _Machine, end: list[float], radius: float, number: int) -> tuple[float, float]:
    x, y, _ = machine.at
    dx, dy = end[0] - x, end[1] - y
    chord = math.hypot(dx, dy)
    if not 0 < chord <= 2 * abs(radius) * (1 + 1e-6):
        raise UnreadableSource(f"line {number}: no arc of that radius joins the points")
    height = math.sqrt(max(radius * radius - chord * chord / 4, 0.0))
    side = -1 if (machine.mode == 3) == (radius < 0) else 1
    return x + dx / 2 - side * dy / chord * height, y + dy / 2 + side * dx / chord * height
