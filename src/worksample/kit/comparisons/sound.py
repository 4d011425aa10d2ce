"""Sound, notes and words in time: recordings, MIDI, MusicXML scores, and transcripts with or without times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.kit.check_score import Check, average
from worksample.kit.free_text import flat
from worksample.kit.markup import local_name
from worksample.kit.reader_process import ReaderLimits, Reading, library, read_apart
from worksample.kit.source import UnreadableSource
from worksample.kit.text import read_text

from .bands import compare_artifacts
from .documents import read_document

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-media"
RATE = 8_000
"""Samples per second to which compared sound is reduced."""
SECONDS_LIMIT = 1_800
NOTE_LIMIT = 200_000
WORD_LIMIT = 50_000
_SOUND = "worksample.kit.comparisons.sound:spectrum_of"
_MIDI = "worksample.kit.comparisons.sound:notes_of"
_LIMITS = ReaderLimits(seconds=60, memory=1 << 30, file=256 << 20)
CONTAINERS = {".wav": "wav", ".flac": "flac", ".mp3": "mp3", ".ogg": "ogg", ".m4a": "mov", ".aiff": "aiff"}


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording: `seconds`, `loudness` (root mean square from 0 to 1), and `bands`: energies with the shape (moments,
    16 bands of frequency), 10 moments per second, in decibels from -60 to 0.
    """

    seconds: float
    loudness: float
    bands: np.ndarray


def recording(
    got: Path, want: Path, *, seconds: float = 0.25, loudness: float = 0.1, difference: float = 3.0,
    trivial: Sequence[Path] = (),
) -> Check:  # fmt: skip
    """Return the share of moments and bands of frequency in which two recordings sound alike.

    Reads WAV, FLAC, MP3, Ogg, M4A and AIFF. seconds: allowed difference of length, beyond which the score is 0.
    loudness: allowed difference as a share of the reference's, beyond which the score is halved. difference: decibels
    up to which two energies are alike. Silence, and noise with the reference's mean spectrum, score 0. Raises
    DeliverableError if the deliverable is malformed or longer than half an hour.
    """

    def measure(mine: Recording, theirs: Recording) -> Check:
        import numpy as np

        if abs(mine.seconds - theirs.seconds) > seconds:
            return Check(0.0, f"lasts {mine.seconds:.2f} seconds instead of {theirs.seconds:.2f}")
        rows = min(len(mine.bands), len(theirs.bands))
        alike = np.abs(mine.bands[:rows] - theirs.bands[:rows]) <= difference
        heard = np.maximum(mine.bands[:rows], theirs.bands[:rows]) > -59.9
        share = float(alike[heard].mean()) if heard.any() else 1.0
        loud = abs(mine.loudness - theirs.loudness) <= loudness * theirs.loudness + 1e-9
        said = [] if share >= 1 else [f"{share:.1%} of the sound alike"]
        said += [] if loud else [f"loudness {mine.loudness:.4f} instead of {theirs.loudness:.4f}"]
        return Check(share if loud else share / 2, "; ".join(said))

    return compare_artifacts(got, want, read_recording, measure, trivial=trivial, fillers=_noises)


def _noises(theirs: Recording) -> Iterable[Recording]:
    import numpy as np

    yield Recording(theirs.seconds, 0.0, np.full_like(theirs.bands, -60.0))
    yield Recording(theirs.seconds, theirs.loudness, np.broadcast_to(theirs.bands.mean(axis=0), theirs.bands.shape))


def read_recording(path: Path) -> Recording:
    """Read a recording. Raises UnreadableSource if the content is not what the ending says, or it is too long."""
    if path.suffix.lower() not in CONTAINERS:
        raise UnreadableSource(f"is no {', '.join(CONTAINERS)}")
    found = read_apart(_SOUND, path, extra=EXTRA, limits=_LIMITS)
    return Recording(found.facts["seconds"], found.facts["loudness"], found.arrays["bands"])


def spectrum_of(path: Path) -> Reading:
    """Return a recording's length, loudness and energies. Runs in a reader process."""
    import av
    import numpy as np

    pieces: list[Any] = []
    count = 0
    with path.open("rb") as file, av.open(file, mode="r", format=CONTAINERS[path.suffix.lower()]) as opened:
        if not opened.streams.audio:
            raise UnreadableSource("has no sound")
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        for frame in opened.decode(opened.streams.audio[0]):
            for piece in resampler.resample(frame):
                pieces.append(piece.to_ndarray().ravel())
                count += pieces[-1].size
            if count > SECONDS_LIMIT * RATE:
                raise UnreadableSource(f"lasts longer than {SECONDS_LIMIT} seconds")
    samples = np.concatenate(pieces) if pieces else np.zeros(0, "f4")
    if samples.size < RATE // 10 or not np.isfinite(samples).all():
        raise UnreadableSource("has less than a tenth of a second of sound, or samples that are not numbers")
    step = RATE // 10
    moments = samples[: len(samples) // step * step].reshape(-1, step)
    power = np.abs(np.fft.rfft(moments * np.hanning(step), axis=1)) ** 2 / step**2 * 16
    edges = np.unique(np.geomspace(4, power.shape[1], 17).astype(int))
    energy = np.stack([power[:, a:b].sum(axis=1) for a, b in pairwise(edges)], axis=1)
    decibels = np.clip(10 * np.log10(np.maximum(energy, 1e-12)), -60, 0)
    loudness = float(np.sqrt(np.mean(samples.astype("f8") ** 2)))
    return Reading({"seconds": samples.size / RATE, "loudness": loudness}, {"bands": decibels})


def midi(got: Path, want: Path, *, seconds: float = 0.05, channels: bool = True, trivial: Sequence[Path] = ()) -> Check:
    """Return the overlap of the notes of two MIDI files: equal pitch, and start and length within `seconds`.

    The overlap is the number of equal notes divided by the larger number of notes; each note counts once. channels:
    whether the channel must be the same. Raises DeliverableError if the deliverable is malformed or has more than
    200,000 notes.
    """

    def measure(mine: np.ndarray, theirs: np.ndarray) -> Check:
        both = _equal_notes(mine, theirs, seconds, channels)
        most = max(len(mine), len(theirs))
        return Check(both / most, f"{both} of {most} notes right" if both < most else "")

    return compare_artifacts(got, want, read_midi, measure, trivial=trivial)


def _equal_notes(mine: np.ndarray, theirs: np.ndarray, seconds: float, channels: bool) -> int:
    """Count pairs of equal notes, each note in one pair at most: by pitch and channel, in order of time."""
    from collections import defaultdict

    groups: dict[tuple[int, int], tuple[list[tuple[float, float]], list[tuple[float, float]]]] = defaultdict(
        lambda: ([], [])
    )
    for side, notes in enumerate((mine, theirs)):
        for pitch, start, length, channel in notes.tolist():
            groups[int(pitch), int(channel) if channels else 0][side].append((start, length))
    count = 0
    for left, right in groups.values():
        left.sort()
        right.sort()
        i = j = 0
        while i < len(left) and j < len(right):
            (a, x), (b, y) = left[i], right[j]
            if abs(a - b) <= seconds + 1e-9:
                count += abs(x - y) <= seconds + 1e-9
                i, j = i + 1, j + 1
            elif a < b:
                i += 1
            else:
                j += 1
    return count


def read_midi(path: Path) -> np.ndarray:
    """Return the notes of a MIDI file: pitch, start, length in seconds, channel. Raises UnreadableSource if it has none
    or is malformed.
    """
    with path.open("rb") as file:
        if file.read(4) != b"MThd":
            raise UnreadableSource("is not a MIDI file")
    found = read_apart(_MIDI, path, extra=EXTRA, limits=_LIMITS).arrays["notes"]
    if not len(found):
        raise UnreadableSource("has no notes")
    return found


def notes_of(path: Path) -> Reading:
    """Return a MIDI file's notes. Runs in a reader process."""
    import mido
    import numpy as np

    now, notes = 0.0, []
    sounding: dict[tuple[int, int], list[float]] = {}
    for message in mido.MidiFile(str(path), clip=False):
        now += message.time
        if message.type not in ("note_on", "note_off"):
            continue
        held = sounding.setdefault((message.note, message.channel), [])
        if message.type == "note_on" and message.velocity > 0:
            held.append(now)
        elif held:
            start = held.pop(0)
            notes.append((message.note, start, now - start, message.channel))
        if len(notes) > NOTE_LIMIT or now > 24 * 3600:
            raise UnreadableSource(f"has more than {NOTE_LIMIT:,} notes, or lasts longer than a day")
    return Reading(arrays={"notes": np.array(notes, dtype="f8").reshape(-1, 4)})


def score(got: Path, want: Path, *, trivial: Sequence[Path] = ()) -> Check:
    """Return the overlap of the notes of two MusicXML scores: part, measure, position, pitch, and length in quarters.

    Names of parts do not count, their order does. Compressed scores (`.mxl`) are not read. Raises DeliverableError if
    the deliverable is malformed.
    """

    def measure(mine: frozenset[tuple[object, ...]], theirs: frozenset[tuple[object, ...]]) -> Check:
        both, most = len(mine & theirs), max(len(mine), len(theirs))
        return Check(both / most, f"{both} of {most} notes right" if both < most else "")

    return compare_artifacts(got, want, read_score, measure, trivial=trivial)


def read_score(path: Path) -> frozenset[tuple[object, ...]]:
    """Return the notes of a MusicXML score. Raises UnreadableSource if it has none or is malformed."""
    root = read_document(path)
    if local_name(root) != "score-partwise":
        raise UnreadableSource(f"is not MusicXML by parts: its root is {local_name(root)!r}")
    notes: set[tuple[object, ...]] = set()
    for number, part in enumerate(e for e in root if local_name(e) == "part"):
        divisions = 1.0
        for place, measure in enumerate(e for e in part if local_name(e) == "measure"):
            at = last = 0.0
            for element in measure:
                name = local_name(element)
                told = {local_name(e): (e.text or "").strip() for e in element.iter()}
                try:
                    divisions = float(told.get("divisions") or divisions)
                    length = float(told.get("duration") or 0) / divisions
                    pitch = (told.get("step", ""), int(float(told.get("alter") or 0)), told.get("octave", ""))
                except (ValueError, ArithmeticError) as error:
                    raise UnreadableSource(f"has a note whose length or pitch is not a number: {error}") from error
                if name == "note":
                    start = last if "chord" in told else at
                    if "pitch" in told:
                        notes.add((number, place, round(start, 4), pitch, round(length, 4)))
                    last, at = start, max(at, start + length)
                elif name in ("backup", "forward"):
                    at += length if name == "forward" else -length
            if len(notes) > NOTE_LIMIT:
                raise UnreadableSource(f"has more than {NOTE_LIMIT:,} notes")
    if not notes:
        raise UnreadableSource("has no notes")
    return frozenset(notes)


@dataclass(frozen=True, slots=True)
class Transcript:
    """Words in order, and cues as (start, end, index of the first word), in seconds; no cues in plain text."""

    words: tuple[str, ...]
    cues: tuple[tuple[float, float, int], ...]


def transcript(
    got: Path, want: Path, *, errors: float = 0.0, seconds: float = 0.5, trivial: Sequence[Path] = ()
) -> Check:
    """Return how right a transcript is: 1 minus the rate of word errors, and the share of cues at the right time.

    Reads SubRip (`.srt`), WebVTT (`.vtt`) and plain text. Letters' case and punctuation do not count. errors: the rate
    of word errors up to which the words are right. seconds: allowed difference of a cue's start and end; cues count
    half if the reference has any. Raises DeliverableError if the deliverable is malformed or has more than 50,000
    words.
    """

    def measure(mine: Transcript, theirs: Transcript) -> Check:
        rate = _error_rate(mine.words, theirs.words)
        share = max(0.0, 1 - max(0.0, rate - errors) / max(1 - errors, 1e-9))
        checks = [Check(share, f"{rate:.1%} of the words wrong" if share < 1 else "")]
        if theirs.cues:
            near = [
                any(abs(a - c) <= seconds + 1e-9 and abs(b - d) <= seconds + 1e-9 for c, d, _ in mine.cues)
                for a, b, _ in theirs.cues
            ]
            timed = sum(near) / max(len(theirs.cues), len(mine.cues))
            said = f"{sum(near)} of {len(near)} cues at the right time" if timed < 1 else ""
            said = f"{sum(near)} of {len(near)} cues at the right time" if timed < 1 else ""
            checks.append(Check(timed * (share > 0), said))
        return average(checks)

    return compare_artifacts(got, want, read_transcript, measure, trivial=trivial)


def _error_rate(mine: Sequence[str], theirs: Sequence[str]) -> float:
    """Return the number of words to insert, delete and replace, divided by the number of right words."""
    with library(EXTRA):
        from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.distance(mine, theirs)) / len(theirs)


_TIMES = re.compile(r"(?:(\d{1,3}):)?(\d{2}):(\d{2})[.,](\d{3})")
_TAG = re.compile(r"<[^>]{0,100}>")


def read_transcript(path: Path) -> Transcript:
    """Read a transcript. Raises UnreadableSource if it has no words, a cue ends before it starts, or it is too long."""
    ending = path.suffix.lower()
    if ending not in (".srt", ".vtt", ".txt"):
        raise UnreadableSource("is no .srt, .vtt, .txt")
    text = read_text(path, 4 << 20)
    if ending == ".vtt" and not text.lstrip("\ufeff").startswith("WEBVTT"):
        raise UnreadableSource("is not WebVTT")
    words: list[str] = []
    cues: list[tuple[float, float, int]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if ending != ".txt" and "-->" in line:
            times = [_seconds(found) for found in _TIMES.finditer(line)]
            if len(times) != 2 or times[1] < times[0]:
                raise UnreadableSource(f"line {number + 1} is no time of a cue: {line[:60]!r}")
            cues.append((times[0], times[1], len(words)))
        elif ending == ".txt" or (cues and not _is_number_of_cue(lines, number)):
            words += re.findall(r"[\w']+", flat(_TAG.sub("", line)))
        if len(words) > WORD_LIMIT:
            raise UnreadableSource(f"has more than {WORD_LIMIT:,} words")
    if not words or (ending != ".txt" and not cues):
        raise UnreadableSource("has no words, or no cues")
    return Transcript(tuple(words), tuple(cues))


def _is_number_of_cue(lines: Sequence[str], number: int) -> bool:
    return lines[number].strip().isdigit() and number + 1 < len(lines) and "-->" in lines[number + 1]


def _seconds(found: re.Match[str]) -> float:
    hours, minutes, seconds, thousandths = (int(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds + thousandths / 1000
