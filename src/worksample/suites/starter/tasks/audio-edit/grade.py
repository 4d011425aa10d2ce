"""Grades an edited recording by its wave: what is in it and where, what is not, its level, peaks and fades."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from worksample.errors import DeliverableError, ReferenceUnreadable
from worksample.kit import Case, Check, Grade, every, gate_and_score, tabular
from worksample.kit.sound import read_wav
from worksample.kit.source import reference

RATE = 8_000
SECONDS = 60
"""Longest programme that is looked at."""
PLACE = int(0.02 * RATE)
WINDOW = int(0.1 * RATE)
SOUND = 0.02
"""RMS above which a window of the recording holds sound rather than room."""
ALIKE, HEARD = 0.9, 0.8
"""Correlation from which a passage is the same, and from which a cut passage is still heard."""
RMS_DB, PEAK_DB = -16.0, -1.0
FADES = (0.15, 0.4)
PROGRAMME = "programme.wav"


@dataclass
class Edit:
    """The delivered programme beside the recording and what was to be done with it."""

    case: Case

    @cached_property
    def want(self) -> dict[str, Any]:
        want = self.case.ref_json("expected.json")
        if not isinstance(want, dict) or not want.keys() >= {"parts", "cuts", "squeezed"}:
            raise ReferenceUnreadable("lacks parts, cuts or squeezed", where="expected.json")
        return want

    @cached_property
    def source(self) -> np.ndarray:
        """The recording without its offset."""
        with reference("recording.wav"):
            samples = read_wav(self.case.input("recording.wav")).samples[:, 0]
        return samples - samples.mean()

    @cached_property
    def model(self) -> np.ndarray:
        """What stays, joined, with neither gain nor fades."""
        return np.concatenate([self.source[a:b] for a, b in self.want["parts"]])

    @cached_property
    def got(self) -> np.ndarray:
        sound = self.case.wav(PROGRAMME)
        if not 0 < sound.seconds <= SECONDS:
            raise DeliverableError(f"lasts {sound.seconds:.1f} seconds", where=PROGRAMME)
        return sound.samples[:, 0]

    @cached_property
    def centred(self) -> np.ndarray:
        return self.got - self.got.mean()


def decibel(value: float) -> float:
    return 20 * float(np.log10(max(value, 1e-9)))


def rms(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(samples)))) if len(samples) else 0.0


def playable(edit: Edit) -> Check:
    sound = edit.case.wav(PROGRAMME)
    with edit.case.output(PROGRAMME).open("rb") as raw, wave.open(raw) as file:
        width = file.getsampwidth()
    found = (sound.rate, sound.samples.shape[1], 8 * width)
    right = found == (RATE, 1, 8) and sound.seconds > 0
    return Check.of(right, "" if right else f"{found[0]} Hz, {found[1]} channels, {found[2]} bit")


def best(sound: np.ndarray, wanted: np.ndarray) -> tuple[float, int]:
    """The highest normalised correlation of `wanted` with any place of `sound`, and that place."""
    if len(sound) < len(wanted):
        return 0.0, 0
    size = 1 << int(np.ceil(np.log2(len(sound) + len(wanted))))
    product = np.fft.irfft(np.fft.rfft(sound, size) * np.conj(np.fft.rfft(wanted, size)), size)
    product = product[: len(sound) - len(wanted) + 1]
    power = np.concatenate([[0.0], np.cumsum(sound**2)])
    local = np.sqrt(np.maximum(power[len(wanted) :] - power[: len(sound) - len(wanted) + 1], 1e-6))
    ratio = product / (local * max(float(np.linalg.norm(wanted)), 1e-6))
    place = int(np.argmax(ratio))
    return float(ratio[place]), place


def alike(edit: Edit) -> list[tuple[int, bool]]:
    """Windows of the model that hold sound: where, and whether the programme has them there."""
    found = []
    for start in range(0, len(edit.model) - WINDOW + 1, WINDOW):
        wanted = edit.model[start : start + WINDOW]
        if rms(wanted) < SOUND:
            continue
        low = max(0, start - PLACE)
        near = edit.centred[low : start + WINDOW + PLACE]
        found.append((start, best(near, wanted)[0] >= ALIKE))
    if not found:
        raise ReferenceUnreadable("the recording holds no sound where parts should be", where="recording.wav")
    return found


def there(edit: Edit) -> Check:
    """Whether at least half of what stays is in the programme at all, wherever."""
    found = []
    for start, in_place in alike(edit):
        found.append(in_place or best(edit.centred, edit.model[start : start + WINDOW])[0] >= ALIKE)
    return Check.of(sum(found) >= 0.5 * len(found), "less than half of what stays is there")


def kept(edit: Edit) -> Check:
    """The share of what stays that is in its place; full from 97 % on."""
    windows = alike(edit)
    share = sum(good for _, good in windows) / len(windows)
    lost = [f"{start / RATE:.1f} s" for start, good in windows if not good]
    return Check(
        1.0 if share >= 0.97 else share, "" if share >= 0.97 else f"missing or elsewhere: {', '.join(lost[:8])}"
    )


def cuts(edit: Edit) -> Check:
    """Nothing of a cut is heard, and the length is right."""
    checks = [there(edit)]
    for start, end in edit.want["cuts"]:
        size = 2 * WINDOW
        heard = []
        for at in range(start, end - size + 1, WINDOW):
            wanted = edit.source[at : at + size]
            if rms(wanted) >= SOUND and best(edit.centred, wanted)[0] >= HEARD:
                heard.append(f"{at / RATE:.2f} s")
        checks.append(Check.of(not heard, f"still heard, by the recording's time: {', '.join(heard[:4])}"))
    off = (len(edit.got) - len(edit.model)) / RATE
    checks.append(Check.of(abs(off) <= 0.05, f"{abs(off):.2f} s too {'long' if off > 0 else 'short'}"))
    return every(checks)


def level(edit: Edit) -> Check:
    loud, mean = decibel(rms(edit.got)), float(edit.got.mean())
    return every(
        [
            there(edit),
            Check.of(abs(loud - RMS_DB) <= 0.5, f"RMS {loud:.1f} dBFS"),
            Check.of(abs(mean) <= 0.005, f"mean {mean:+.4f}"),
        ]
    )


def peaks(edit: Edit) -> Check:
    """No loud sample, no clipped one, and one gain for all voices outside of the peaks that had to be held down."""
    top = decibel(float(np.abs(edit.got).max()))
    rails = int(((edit.got <= -1.0) | (edit.got >= 127 / 128)).sum())
    gains = []
    squeezed = np.array(edit.want["squeezed"])
    for start, good in alike(edit):
        inside = FADES[0] * RATE <= start <= len(edit.model) - FADES[1] * RATE - WINDOW
        if good and inside and not ((squeezed > start - 4 * WINDOW) & (squeezed < start + 4 * WINDOW)).any():
            wanted = edit.model[start : start + WINDOW]
            low = max(0, start - PLACE)
            near = edit.centred[low : start + WINDOW + PLACE]
            place = best(near, wanted)[1]
            gains.append(float(near[place : place + WINDOW] @ wanted / (wanted @ wanted)))
    spread = decibel(max(gains)) - decibel(min(gains)) if gains and min(gains) > 0 else float("inf")
    return every(
        [
            there(edit),
            Check.of(top <= PEAK_DB + 0.05, f"peak {top:.1f} dBFS"),
            Check.of(rails == 0, f"{rails} clipped samples"),
            Check.of(spread <= 3.0, f"the voices' gain varies by {spread:.1f} dB"),
        ]
    )


def gain(edit: Edit, start: int, size: int, shift: int) -> float:
    """Gain of the programme over the recording in a stretch of the model, which is looked for `shift` samples later."""
    wanted = edit.model[start : start + size]
    near = edit.centred[max(0, start + shift - PLACE) : max(0, start + shift + size + PLACE)]
    if len(near) < size or rms(wanted) < SOUND / 2:
        return 0.0
    place = best(near, wanted)[1]
    return float(near[place : place + size] @ wanted / (wanted @ wanted))


def fades(edit: Edit) -> Check:
    """The gain in the fades against that beside them: a straight line, within 0.15; the last one from the end."""
    checks = [there(edit)]
    total = len(edit.model)
    for name, seconds, lead in (("in", FADES[0], 0), ("out", FADES[1], total)):
        length = int(seconds * RATE)
        size = length // 5
        shift = 0 if name == "in" else len(edit.got) - total
        beside = gain(edit, length if name == "in" else total - length - 2 * size, 2 * size, shift)
        wrong = []
        for k in range(1, 5):
            start = k * size if name == "in" else lead - (k + 1) * size
            found = gain(edit, start, size, shift) / beside if beside > 0 else -1.0
            if abs(found - (k + 0.5) / 5) > 0.15:
                wrong.append(f"{(k + 0.5) / 5:.0%} should be there, {found:.0%} is")
        edge = edit.got[: size // 4] if name == "in" else edit.got[-size // 4 :]
        quiet = float(np.abs(edge).max()) <= 0.25 * float(np.abs(edit.got).max())
        checks.append(Check.of(not wrong and quiet, f"fade {name}: {'; '.join(wrong[:2]) or 'its end is not quiet'}"))
    return every(checks)


def cues(edit: Edit) -> Check:
    columns = ["source_in", "source_out", "programme_in"]
    got, want = edit.case.output("cue-sheet.csv"), edit.case.reference("cue-sheet.csv")
    return tabular(
        got, want, keys=["part"], columns=columns, tolerance=float(edit.case.setting("tolerance")), partial=False
    )


def grade(case: Case) -> Grade:
    edit = Edit(case)
    _ = edit.want, edit.source, case.reference("cue-sheet.csv")
    return gate_and_score(
        case,
        gates={"format": lambda: playable(edit)},
        score={
            "kept": lambda: kept(edit),
            "cuts": lambda: cuts(edit),
            "level": lambda: level(edit),
            "peaks": lambda: peaks(edit),
            "fades": lambda: fades(edit),
            "cues": lambda: cues(edit),
        },
    )
