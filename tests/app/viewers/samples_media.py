"""Sounds, films and a song, a few seconds each."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n\n00:01.000 --> 00:02.000\nSecond line\n"


def made(folder: Path, name: str, *options: str) -> bytes:
    target = folder / name
    subprocess.run(["ffmpeg", "-v", "error", "-y", *options, str(target)], check=True, timeout=300)
    return target.read_bytes()


def sound(folder: Path, name: str, *options: str) -> bytes:
    """Three seconds, loud in the middle."""
    swell = "aevalsrc='0.8*sin(440*2*PI*t)*sin(PI*t/3)':d=3:s=44100"
    return made(folder, name, "-f", "lavfi", "-i", swell, *options)


def film(folder: Path, name: str, *options: str, heard: bool = True) -> bytes:
    """Two seconds of ten test pictures each, with a tone."""
    words = ["-f", "lavfi", "-i", "testsrc=d=2:s=320x180:r=10"]
    words += ["-f", "lavfi", "-i", "sine=f=440:d=2"] if heard else []
    return made(folder, name, *words, "-pix_fmt", "yuv420p", *options)


def song() -> bytes:
    """Two tracks with names: a scale of eight notes and four long ones below, half a second to a note."""
    import mido  # type: ignore[import-untyped]

    tracks = []
    for channel, (name, notes, ticks) in enumerate(
        (("Melody", (60, 62, 64, 65, 67, 69, 71, 72), 480), ("Bass", (36, 43, 40, 36), 960))
    ):
        track = mido.MidiTrack([mido.MetaMessage("track_name", name=name, time=0)])
        for note in notes:
            track.append(mido.Message("note_on", note=note, velocity=90, channel=channel, time=0))
            track.append(mido.Message("note_off", note=note, velocity=0, channel=channel, time=ticks))
        tracks.append(track)
    out = io.BytesIO()
    mido.MidiFile(tracks=tracks).save(file=out)
    return out.getvalue()


def files(scratch: Path) -> dict[str, bytes | str]:
    h264 = ("-c:v", "libx264", "-c:a", "aac", "-g", "5")
    return {
        "media/swell.mp3": sound(scratch, "swell.mp3"),
        "media/swell.wav": sound(scratch, "swell.wav"),
        "media/swell.ogg": sound(scratch, "swell.ogg", "-c:a", "libvorbis"),
        "media/swell.flac": sound(scratch, "swell.flac"),
        "media/swell.m4a": sound(scratch, "swell.m4a", "-c:a", "aac"),
        "media/swell.wma": sound(scratch, "swell.wma", "-c:a", "wmav2"),
        "media/clip.mp4": film(scratch, "clip.mp4", *h264, "-movflags", "+faststart"),
        "media/clip.en.vtt": CAPTIONS,
        "media/clip.webm": film(scratch, "clip.webm", "-c:v", "libvpx", "-c:a", "libopus"),
        "media/clip.mkv": film(scratch, "clip.mkv", *h264),
        "media/clip.avi": film(scratch, "clip.avi", "-c:v", "mpeg4", "-c:a", "mp3"),
        "media/clip.mov": film(
            scratch, "clip.mov", "-c:v", "prores_ks", "-pix_fmt", "yuv422p10le", "-c:a", "pcm_s16le"
        ),
        "media/silent.mp4": film(scratch, "silent.mp4", "-c:v", "libx264", heard=False),
        "media/song.mid": song(),
        "media/broken.mp3": b"ID3\4" + bytes(3000),
    }
