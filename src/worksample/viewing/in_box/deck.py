"""Converter of Anki decks: shows the cards of each note, and the media that the cards use."""

from __future__ import annotations

import json
import re
import zipfile
from typing import Any

from . import database
from .conversion_job import READERS_FAULTS, ConversionJob, ViewDraft, fault, module

CARDS = 5_000
MEDIA = 2_000
BYTES = 200 << 20
_NEWEST = ("collection.anki21b", "collection.anki21", "collection.anki2")


def convert(job: ConversionJob) -> ViewDraft:
    made = ViewDraft("cards")
    try:
        with zipfile.ZipFile(job.file) as package:
            name = next(n for n in _NEWEST if n in package.namelist())
            collection = _write(job, _read_member(package, name, packed=name.endswith("b")))
            kinds, decks, notes = _notes(collection)
            names = _names(package, packed=name.endswith("b"))
            found = _media(job, made, package, names, packed=name.endswith("b"))
    except READERS_FAULTS as e:
        raise fault(e, "the deck") from e
    plain = {"kinds": kinds, "decks": decks, "notes": notes, "media": found}
    made.files["cards"] = job.keep_json("cards.json", plain)
    used = set(re.findall(r"""(?:src=["']?|\[sound:)([^"'\]>]+)""", " ".join(f for n in notes for f in n["fields"])))
    lacking = sorted(u for u in used if u not in found and "://" not in u)
    made.meta = {"notes": len(notes), "decks": decks, "media": len(found), "absent": lacking[:50]}
    said = []
    if len(notes) == CARDS:
        said.append(f"only the first {CARDS:,} notes are shown")
    if lacking:
        said.append(f"{len(lacking)} media files that it uses are not in it")
    made.problem = "; ".join(said)
    return made


def _read_member(package: zipfile.ZipFile, name: str, *, packed: bool) -> bytes:
    with package.open(name) as f:
        data = f.read(BYTES + 1)
    if len(data) > BYTES:
        raise ValueError("the file unpacks to more bytes than are read")
    if not packed:
        return data
    module("zstandard", "zstandard")
    import zstandard

    try:
        data = zstandard.ZstdDecompressor().stream_reader(data).read(BYTES + 1)
    except zstandard.ZstdError as e:
        raise ValueError(str(e)) from e
    if len(data) > BYTES:
        raise ValueError("the file unpacks to more bytes than are read")
    return bytes(data)


def _write(job: ConversionJob, data: bytes) -> ConversionJob:
    path = job.work / "collection.db"
    path.write_bytes(data)
    return ConversionJob(path, "collection", job.path, job.folder, job.out, job.work, len(data))


def _notes(job: ConversionJob) -> tuple[dict[str, Any], list[str], list[dict[str, Any]]]:
    """Return note types by id with fields and templates, deck names, and notes."""
    connection = database.connect(job, 20.0)
    connection.create_collation("unicase", lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    kinds: dict[str, Any]
    if "notetypes" in tables:
        kinds = {
            str(i): {"name": n, "fields": [], "templates": []}
            for i, n in connection.execute("SELECT id, name FROM notetypes")
        }
        for kind, name in connection.execute("SELECT ntid, name FROM fields ORDER BY ntid, ord"):
            kinds[str(kind)]["fields"].append(name)
        decks = [str(n[0]).replace("\x1f", "::") for n in connection.execute("SELECT name FROM decks LIMIT 500")]
    else:
        models, found = connection.execute("SELECT models, decks FROM col").fetchone()
        kinds = {
            key: {
                "name": str(m.get("name", ""))[:200],
                "fields": [str(f["name"]) for f in m.get("flds", [])],
                "templates": [
                    {"name": str(t.get("name", "")), "front": str(t.get("qfmt", "")), "back": str(t.get("afmt", ""))}
                    for t in m.get("tmpls", [])[:20]
                ],
            }
            for key, m in json.loads(models).items()
        }
        decks = [str(d.get("name", ""))[:200] for d in json.loads(found).values()][:500]
    rows = connection.execute(f"SELECT mid, flds, tags FROM notes ORDER BY id LIMIT {CARDS}")
    notes = [{"kind": str(m), "fields": str(f).split("\x1f"), "tags": str(t).split()} for m, f, t in rows]
    return kinds, decks, notes


def _names(package: zipfile.ZipFile, *, packed: bool) -> dict[str, str]:
    """Return name of a media file in the archive -> original name of this file."""
    if "media" not in package.namelist():
        return {}
    data = _read_member(package, "media", packed=packed)
    if not packed:
        return {str(k): str(v) for k, v in json.loads(data or b"{}").items()}
    # A list of messages, each with the name as its field 1: tag 0x0a, length, entry; in it 0x0a, length, name.
    out: dict[str, str] = {}
    at = 0
    while at < len(data) and data[at] == 0x0A:
        size, at = _varint(data, at + 1)
        entry, at = data[at : at + size], at + size
        if entry[:1] == b"\x0a":
            length, begin = _varint(entry, 1)
            out[str(len(out))] = entry[begin : begin + length].decode("utf-8", "replace")
    return out


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a number in the file has no end")


def _media(
    job: ConversionJob, made: ViewDraft, package: zipfile.ZipFile, names: dict[str, str], *, packed: bool
) -> dict[str, str]:
    """Return original name of a media file -> artefact with this file."""
    out: dict[str, str] = {}
    left = BYTES
    for number, name in list(names.items())[:MEDIA]:
        if number not in package.namelist() or left <= 0:
            continue
        data = _read_member(package, number, packed=packed)
        left -= len(data)
        artefact = f"media/{len(out)}"
        made.files[artefact] = job.write_artefact(artefact, data)
        out[name] = artefact
    return out
