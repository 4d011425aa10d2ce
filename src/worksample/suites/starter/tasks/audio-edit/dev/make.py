"""Makes the recordings of this task, with the standard library only: `python dev/make.py`.

Voices are harmonics of a gliding pitch under moving formants, cut into syllables; every passage has its own seed, so
that no two sound alike.
"""

from __future__ import annotations

import math
import random
import wave
from pathlib import Path

RATE = 8_000
INPUTS = Path(__file__).resolve().parent.parent / "inputs"


def voice(seed: int, seconds: float, low: float, level: float) -> list[float]:
    """A passage of speech-like sound."""
    r = random.Random(seed)
    count = int(seconds * RATE)
    found = [0.0] * count
    place = 0
    phase = [r.random() * 6.28 for _ in range(24)]
    while place < count:
        length = min(count - place, int(r.uniform(0.11, 0.24) * RATE))
        f0, f1 = low * r.uniform(0.8, 1.3), low * r.uniform(0.8, 1.3)
        formants = [(r.uniform(280, 850), 110.0), (r.uniform(900, 2200), 160.0), (r.uniform(2300, 3300), 220.0)]
        loud = level * r.uniform(0.6, 1.0)
        hiss = r.random() < 0.5
        weights = []
        for k in range(1, 25):
            f = k * (f0 + f1) / 2
            weights.append(sum(math.exp(-(((f - c) / w) ** 2)) / (n + 1) for n, (c, w) in enumerate(formants)) + 0.02)
        norm = math.sqrt(sum(w * w for w in weights) / 2)
        for i in range(length):
            t = i / length
            envelope = math.sin(math.pi * min(1.0, t * 1.15)) ** 0.6 if t < 0.87 else max(0.0, (1 - t) / 0.13) * 0.5
            pitch = f0 + (f1 - f0) * t
            value = 0.0
            for k in range(24):
                if (k + 1) * pitch < 3_800:
                    phase[k] += 2 * math.pi * (k + 1) * pitch / RATE
                    value += weights[k] * math.sin(phase[k])
            value = value / norm * loud * envelope
            if hiss and t < 0.25:
                value = 0.4 * value + r.uniform(-1, 1) * loud * 0.5 * (1 - t / 0.25)
            found[place + i] = value
        place += length + int(r.uniform(0.0, 0.05) * RATE)
    return found


def tone(frequency: float, seconds: float, level: float) -> list[float]:
    """A beep with edges of 2 ms."""
    count, edge = int(seconds * RATE), int(0.002 * RATE)
    return [
        level * min(1.0, i / edge, (count - i) / edge) * math.sin(2 * math.pi * frequency * i / RATE)
        for i in range(count)
    ]


def chord(notes: tuple[float, ...], seconds: float, level: float) -> list[float]:
    """A jingle: notes that enter one after the other and swell a little."""
    found = [0.0] * int(seconds * RATE)
    for n, f in enumerate(notes):
        for i in range(int(n * 0.12 * RATE), len(found)):
            found[i] += (
                level * math.sin(2 * math.pi * f * i / RATE + n) * (1 + 0.2 * math.sin(2 * math.pi * 5 * i / RATE))
            )
    return found


def burst(seed: int, seconds: float, level: float, colour: float) -> list[float]:
    """A cough or a slam: noise that dies away; `colour` in 0..1 makes it darker."""
    r = random.Random(seed)
    found, last = [], 0.0
    for i in range(int(seconds * RATE)):
        last = colour * last + (1 - colour) * r.uniform(-1, 1)
        found.append(level * last / (1 - colour * 0.7) * math.exp(-4 * i / (seconds * RATE)))
    return found


def pop(level: float) -> list[float]:
    """A plosive that hits the microphone."""
    return [level * math.sin(2 * math.pi * 210 * i / RATE) * math.exp(-i / 60) for i in range(240)]


def record(
    name: str, slate: float, seconds: float, events: list[tuple[float, list[float]]], offset: float, seed: int
) -> None:
    """Events at seconds after the slate's end, over the room's noise, as 8 bit PCM with a constant offset."""
    r = random.Random(seed)
    samples = [offset + r.gauss(0, 0.006) for _ in range(int(seconds * RATE))]
    beep = tone(1_000, 0.5, 0.2)
    for start, sound in [(slate - 0.5, beep), *((slate + t, s) for t, s in events)]:
        at = round(start * RATE)
        for i, value in enumerate(sound):
            if 0 <= at + i < len(samples):
                samples[at + i] += value
    data = bytes(min(255, max(0, round(128 + 128 * s))) for s in samples)
    with wave.open(str(INPUTS / name / "recording.wav"), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(1)
        out.setframerate(RATE)
        out.writeframes(data)


def main() -> None:
    record(
        "info-line", 1.1375, 11.9,
        [
            (0.0, chord((392.0, 523.3, 659.3), 0.7, 0.045)),
            (0.6, voice(1, 1.35, 118, 0.17)),
            (2.2, burst(2, 0.3, 0.5, 0.2)), (2.55, voice(3, 0.45, 120, 0.15)),
            (3.2, voice(4, 1.4, 205, 0.16)),
            (4.8, voice(5, 0.4, 200, 0.14)), (5.2, burst(6, 0.5, 0.85, 0.6)), (5.6, voice(7, 0.35, 122, 0.15)),
            (6.15, voice(8, 1.45, 121, 0.17)), (7.0, pop(0.62)),
            (7.8, voice(9, 1.2, 198, 0.15)),
            (9.2, voice(10, 0.85, 125, 0.17)),
            (9.95, chord((659.3, 523.3, 392.0, 261.6), 0.8, 0.05)),
        ],
        0.031, 41,
    )  # fmt: skip
    record(
        "voicemail", 0.8125, 7.4,
        [
            (0.0, chord((440.0, 554.4), 0.5, 0.06)),
            (0.45, voice(21, 1.15, 190, 0.17)),
            (1.75, burst(22, 0.35, 0.5, 0.3)), (2.1, voice(23, 0.4, 185, 0.15)),
            (2.7, voice(24, 1.1, 196, 0.17)), (3.3, pop(0.6)),
            (3.95, tone(1_420, 0.25, 0.25)), (4.2, voice(25, 0.55, 188, 0.15)),
            (4.95, voice(26, 0.75, 192, 0.17)),
            (5.6, chord((554.4, 440.0, 329.6), 0.9, 0.06)),
        ],
        -0.027, 43,
    )  # fmt: skip


if __name__ == "__main__":
    main()
