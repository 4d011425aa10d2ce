"""MIDI: rendered to sound by a soundfont, with its notes for a piano roll."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .conversion_job import (
    READERS_FAULTS,
    SOUNDFONT,
    ConversionJob,
    MissingConverter,
    Unreadable,
    ViewDraft,
    fault,
    module,
    program,
    run,
)
from .media import SAFE
from .waveform_peaks import peaks

NOTES = 50_000
LONGEST = 3_600.0
"""Maximum seconds of a song that are played."""


def convert(job: ConversionJob) -> ViewDraft:
    module("mido", "mido")
    fluidsynth, ffmpeg = program("fluidsynth", "fluidsynth"), program("ffmpeg", "ffmpeg")
    if not Path(SOUNDFONT).exists():
        raise MissingConverter("soundfont")
    notes, meta = _notes(job)
    made = ViewDraft("midi", {"notes": job.keep_json("notes.json", notes)}, meta, by="fluidsynth")
    if meta["duration"] > LONGEST:
        made.problem = f"it is {meta['duration'] / 3600:.1f} hours long, which is not played"
        made.inspectable = False
        return made
    wave, target = job.work / "played.wav", job.out / "played.m4a"
    source = job.copy_as("mid")
    ran = run([fluidsynth, "-niq", "-F", str(wave), "-r", "44100", "-O", "s16", SOUNDFONT, str(source)], seconds=75)
    if not wave.exists() or wave.stat().st_size < 100:
        raise Unreadable(f"the MIDI file cannot be played: {ran.err[:200]}")
    words = [ffmpeg, "-v", "error", "-nostdin", *SAFE, "-i", f"file:{wave}", "-c:a", "aac", "-b:a", "160k", str(target)]
    ran = run(words, seconds=60)
    if not ran.ok:
        raise Unreadable(f"the MIDI file cannot be played: {ran.err[:200]}")
    made.files["audio"] = job.output_path(target)
    points = peaks(ffmpeg, SAFE, target, meta["duration"])
    if points is not None:
        made.files["peaks"] = job.keep_json("peaks.json", points)
    return made


def _notes(job: ConversionJob) -> tuple[list[list[Any]], dict[str, Any]]:
    """Return [start, length, pitch, velocity, channel, track] of every note, in seconds, and the song's metadata."""
    import mido

    try:
        song = mido.MidiFile(str(job.file), clip=True)
        tracks = [str(getattr(track, "name", ""))[:100] for track in song.tracks[:200]]
        notes = _play_notes(mido, song)
    except READERS_FAULTS as e:
        raise fault(e, "the MIDI file") from e
    end = max((n[0] + n[1] for n in notes), default=0.0)
    meta = {"duration": round(end, 3), "tracks": tracks, "notes": len(notes), "truncated": len(notes) >= NOTES}
    return notes, meta


def _play_notes(mido: Any, song: Any) -> list[list[Any]]:
    if song.type == 2 or song.ticks_per_beat <= 0:
        raise ValueError("the song uses a kind of timing that cannot be played")
    events = sorted(_events(song), key=lambda e: e[0])
    notes: list[list[Any]] = []
    open_: dict[tuple[int, int, int], tuple[float, int]] = {}
    now, last, tempo = 0.0, 0, 500_000
    for tick, track, message in events:
        now += mido.tick2second(tick - last, song.ticks_per_beat, tempo)
        last = tick
        if message.type == "set_tempo":
            tempo = message.tempo
        elif message.type in ("note_on", "note_off"):
            key = (message.channel, message.note, track)
            begun = open_.pop(key, None)
            if begun is not None and len(notes) < NOTES:
                notes.append([round(begun[0], 4), round(now - begun[0], 4), key[1], begun[1], key[0], track])
            if message.type == "note_on" and message.velocity > 0:
                open_[key] = (now, message.velocity)
    return sorted(notes)


def _events(song: Any) -> list[tuple[int, int, Any]]:
    out = []
    for number, track in enumerate(song.tracks):
        tick = 0
        for message in track:
            tick += message.time
            out.append((tick, number, message))
    return out
