"""Converter of sound and film. It examines the streams, and converts them only if browsers cannot play them."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import Any

from .conversion_job import ConversionJob, ConverterFault, TooHeavy, Unreadable, ViewDraft, program, run
from .waveform_peaks import peaks

SAFE = ["-protocol_whitelist", "file"]
"""Options of ffmpeg that stop a disguised playlist from reading other files or the network."""
_UNTOLD = ["-map_metadata", "-1", "-map_metadata:s", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"]
"""Options that drop tags of file, streams and chapters and the encoder's name, which reveal the maker."""
LONGEST = 4 * 3600
"""Maximum seconds of a recording that is converted."""
SOUNDS = {"mp3", "aac", "vorbis", "opus", "flac"}
_NATIVE = {
    ("mp4", "h264"): SOUNDS - {"vorbis"},
    ("mp4", "av1"): SOUNDS - {"vorbis"},
    ("mp4", "vp9"): SOUNDS - {"vorbis"},
    ("webm", "vp8"): {"vorbis", "opus"},
    ("webm", "vp9"): {"vorbis", "opus"},
    ("webm", "av1"): {"vorbis", "opus"},
}
_PIXELS = {"yuv420p", "yuvj420p"}
_SOUND_BOXES = {"mp3", "wav", "ogg", "flac", "aac", "mov,mp4,m4a,3gp,3g2,mj2", "webm"}


def convert(job: ConversionJob) -> ViewDraft:
    ffmpeg = program("ffmpeg", "ffmpeg")
    found = probe(job)
    streams = found.get("streams", [])
    film = next((s for s in streams if s.get("codec_type") == "video" and not _cover(s)), None)
    sound = next((s for s in streams if s.get("codec_type") == "audio"), None)
    if film is None and sound is None:
        raise Unreadable("the file has neither sound nor video")
    duration = _seconds(found, film or sound or {})
    if duration > LONGEST:
        raise Unreadable(f"the file is {duration / 3600:.0f} hours long, more than can be shown")
    meta: dict[str, Any] = {"duration": round(duration, 3), "container": found.get("format", {}).get("format_name", "")}
    if sound:
        meta["sound"] = {
            "codec": sound.get("codec_name", ""),
            "channels": int(sound.get("channels", 0)),
            "rate": int(sound.get("sample_rate", 0)),
        }
    made = ViewDraft("audio" if film is None else "video", meta=meta)
    if film is None:
        _audio(job, made, ffmpeg, sound or {})
    else:
        _video(job, made, ffmpeg, film, sound)
    if sound:
        _peaks(job, made, ffmpeg)
    return made


def probe(job: ConversionJob) -> dict[str, Any]:
    """Return ffprobe's output. Raises Unreadable."""
    words = [program("ffprobe", "ffmpeg"), "-v", "error", *SAFE, "-print_format", "json", "-show_streams"]
    ran = run([*words, "-show_format", "-i", f"file:{job.file}"], seconds=60)
    try:
        found = json.loads(ran.out) if ran.ok else {}
    except ValueError:
        found = {}
    if not isinstance(found, dict) or not found.get("streams"):
        raise Unreadable(f"the file is damaged: {ran.err.replace(str(job.file), job.name)[:300]}")
    return found


def _cover(stream: dict[str, Any]) -> bool:
    return bool(stream.get("disposition", {}).get("attached_pic"))


def _seconds(found: dict[str, Any], stream: dict[str, Any]) -> float:
    for place in (found.get("format", {}), stream):
        try:
            seconds = float(place["duration"])
            return seconds if math.isfinite(seconds) else 0.0
        except (KeyError, ValueError, TypeError):
            continue
    return 0.0


def _audio(job: ConversionJob, made: ViewDraft, ffmpeg: str, sound: dict[str, Any]) -> None:
    codec, box = sound.get("codec_name", ""), made.meta["container"]
    plain = codec in ("pcm_s16le", "pcm_u8", "pcm_s24le", "pcm_f32le") and box == "wav" and job.head(4) == b"RIFF"
    if plain or (codec in SOUNDS and box in _SOUND_BOXES):
        return
    target = job.out / "sound.m4a"
    words = [ffmpeg, "-v", "error", "-nostdin", *SAFE, "-i", f"file:{job.file}", "-vn", *_UNTOLD]
    _require_output(
        job, run([*words, "-c:a", "aac", "-b:a", "192k", "-movflags", "+faststart", str(target)], seconds=500), target
    )
    made.files["audio"], made.by = job.output_path(target), "ffmpeg"


def _require_output(job: ConversionJob, ran: Any, target: Any) -> None:
    if not ran.ok or not target.exists() or target.stat().st_size == 0:
        raise Unreadable(f"the file cannot be converted: {ran.err.replace(str(job.file), job.name)[:300]}")


def _video(
    job: ConversionJob, made: ViewDraft, ffmpeg: str, film: dict[str, Any], sound: dict[str, Any] | None
) -> None:
    """Keep a film that browsers play; else remux its streams; else convert to H.264 and AAC."""
    width, height = int(film.get("width", 0)), int(film.get("height", 0))
    codec = str(film.get("codec_name", ""))
    made.meta["film"] = {"codec": codec, "width": width, "height": height, "rate": str(film.get("avg_frame_rate", ""))}
    if width * height > 8192 * 8192:
        raise Unreadable(f"the video has {width:,} x {height:,} pixels, more than can be shown")
    heard = str(sound.get("codec_name", "")) if sound else None
    box = "mp4" if "mp4" in made.meta["container"] else "webm" if "webm" in made.meta["container"] else ""
    pixels = film.get("pix_fmt") in _PIXELS or codec != "h264"
    playable = _NATIVE.get((box, codec), set()) if pixels else set()
    # "mov,mp4,..." and "matroska,webm" are also what ffprobe calls QuickTime and Matroska.
    brand = job.head(12)[8:12]
    quick = box == "mp4" and brand in (b"qt  ", b"\0\0\0\0")
    doctype = box == "webm" and b"webm" not in job.head(64)
    if playable and (heard is None or heard in playable) and not quick and not doctype:
        _poster(job, made, ffmpeg)
        return
    target = job.out / "film.mp4"
    words = [ffmpeg, "-v", "error", "-nostdin", *SAFE, "-i", f"file:{job.file}", "-map", "0:v:0", "-map", "0:a:0?"]
    words += [*_UNTOLD, "-sn", "-dn", "-movflags", "+faststart"]
    copied = codec == "h264" and film.get("pix_fmt") in _PIXELS
    keep_sound = heard in ("aac", "mp3")
    video = ["-c:v", "copy"] if copied else _ENCODE
    audio = ["-c:a", "copy"] if keep_sound else ["-c:a", "aac", "-b:a", "192k", "-ac", "2"]
    _require_output(job, run([*words, *video, *audio, str(target)], seconds=1120), target)
    made.files["video"], made.by = job.output_path(target), "ffmpeg"
    made.meta["again"] = "remuxed" if copied and keep_sound else "transcoded"
    _poster(job, made, ffmpeg)


_ENCODE = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "21", "-pix_fmt", "yuv420p", "-threads", "2"]
_ENCODE += ["-vf", "scale='min(1920,iw)':-2:flags=bicubic,pad=ceil(iw/2)*2:ceil(ih/2)*2"]


def _poster(job: ConversionJob, made: ViewDraft, ffmpeg: str) -> None:
    """Extract a still frame to show before playback, if the film has one."""
    target = job.out / "poster.jpg"
    at = str(min(1.0, made.meta["duration"] / 3))
    words = [ffmpeg, "-v", "error", "-nostdin", *SAFE, "-ss", at, "-i", f"file:{job.file}", "-frames:v", "1"]
    with suppress(TooHeavy, ConverterFault):
        run([*words, "-vf", "scale='min(960,iw)':-2", str(target)], seconds=60)
    if target.exists() and target.stat().st_size:
        made.files["poster"] = job.output_path(target)
    else:
        made.problem = "no frame of it can be read: the film is damaged"


def _peaks(job: ConversionJob, made: ViewDraft, ffmpeg: str) -> None:
    points = peaks(ffmpeg, SAFE, job.file, made.meta["duration"])
    if points is None:
        made.problem = made.problem or "its sound is damaged"
        return
    made.files["peaks"] = job.keep_json("peaks.json", points)
