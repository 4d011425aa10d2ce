"""Writer of a job's package: task.toml, brief, inputs, reference and criteria. A package is written completely or not
at all.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import stat
import tomllib
import unicodedata
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from itertools import count
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from worksample.files.tables.cell_values import InvalidCell
from worksample.records import Criteria
from worksample.tasks.taxonomy import slug

from .filters import exclusion_tags
from .posting import Posting

_NAMESPACE = uuid.UUID("3f5d6f5e-9d3a-5c1e-8a4b-61b4c9a7d2f0")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*\}\}")
_DELIVERABLES = "The finished work, as a client would be given it, in the forms that the description asks for."
BEFORE, AFTER = "## Work description\n\n", "\n\n## Provided material\n\n"
"""Text before and after the description in a brief."""
FRAME = f"\n\n## Deliverables\n\n{_DELIVERABLES}\n"
FILE_LIMIT = 2 << 30
"""The largest size of an attachment, in bytes."""
SUGGESTION_LIMIT = 2_000
"""The largest number of file names that are compared when a missing name gets a suggestion."""


def package_name(posting: Posting, title_slug: Callable[[str], str] = slug) -> str:
    """Return `title-contract`, at most 100 characters. An id that cannot be part of a name becomes a digest."""
    own = slug(posting.job.contract)
    if own != posting.job.contract.lower() or len(own) > 40:
        own = uuid.uuid5(_NAMESPACE, posting.job.contract).hex[:12]
    elif own != posting.job.contract:
        # Two ids that differ only in upper and lower case are two jobs.
        own = f"{own}-{uuid.uuid5(_NAMESPACE, posting.job.contract).hex[:6]}"
    title = title_slug(posting.title)[: 95 - len(own)].strip("-")
    return f"{title}-{own}" if title else own


def _legacy_slug(title: str) -> str:
    """Return a title's slug as earlier versions formed it: without accented letters."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def known_name(posting: Posting, out: Path) -> str:
    """Return the name of a job's package below `out`; the name by an earlier version if a package has it already."""
    name = package_name(posting)
    before = package_name(posting, _legacy_slug)
    kept = before != name and not (out / name).exists() and owner_of(out / before) == posting.job.contract
    return before if kept else name


def choose_folder(posting: Posting, out: Path, owners: dict[str, str]) -> Path:
    """Return a job's folder below `out`: its package name, with a suffix if another job has that name.

    Titles and ids of two jobs may form the same name. taken: name -> id of the earlier jobs; the chosen name is added.
    """
    name, contract = known_name(posting, out), posting.job.contract
    if owners.get(name, contract) != contract or owner_of(out / name) not in ("", contract):
        name = f"{name[:87].rstrip('-')}-{uuid.uuid5(_NAMESPACE, contract).hex[:12]}"
    owners[name] = contract
    return out / name


def owner_of(root: Path) -> str:
    """Return the id of the job whose package is in a folder; "" if the folder holds no job's package."""
    try:
        data = tomllib.loads((root / "task.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""
    job = (data.get("about") or {}).get("job") if isinstance(data.get("about"), dict) else None
    return str(job.get("contract", "")) if isinstance(job, dict) else ""


def job_folder(contract: str) -> str:
    """Return the folder of a job's attachments: its id, or the id's digest if the id cannot be a folder's name."""
    return contract if re.fullmatch(r"[A-Za-z0-9_-]{1,80}", contract) else uuid.uuid5(_NAMESPACE, contract).hex


def write_package(posting: Posting, root: Path, files: Path, day: date, provenance: str) -> None:
    """Write the package `root`, with attachments and deliverables from `files`. Raises InvalidCell."""
    draft = root.with_name(f".{root.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir(parents=True)
        (draft / "inputs").mkdir()
        (draft / "reference").mkdir()
        inputs = _copy_files(posting.attachments, files, draft / "inputs")
        _copy_files(posting.reference, files, draft / "reference")
        (draft / "task.toml").write_text(_manifest(posting, root.name, day, provenance), encoding="utf-8")
        (draft / "brief.md").write_text(_brief(posting, inputs), encoding="utf-8")
        if posting.criteria.criteria:
            (draft / "criteria.toml").write_text(criteria_text(posting.criteria), encoding="utf-8")
        if root.exists():
            shutil.rmtree(root)
        draft.rename(root)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def find_files(posting: Posting, files: Path) -> None:
    """Check that every attachment and deliverable can be opened. Raises InvalidCell for the first that cannot."""
    for name in (*posting.attachments, *posting.reference):
        with open_listed_file(files, relative_path(name), name):
            pass


def with_available_files(posting: Posting, files: Path) -> Posting:
    """Return the posting with only the files that can be opened; its job still lists all attachments."""

    def readable(names: Sequence[str]) -> tuple[str, ...]:
        out: list[str] = []
        for name in names:
            try:
                with open_listed_file(files, relative_path(name), name):
                    out.append(name)
            except InvalidCell:
                continue
        return tuple(out)

    return replace(posting, attachments=readable(posting.attachments), reference=readable(posting.reference))


def _copy_files(names: Sequence[str], files: Path, target: Path) -> list[str]:
    """Copy files from `files` to `target`; return their new paths. A file keeps its folder only if another has its
    name.
    """
    paths = [relative_path(name) for name in names]
    copied = []
    for name, path in zip(names, paths, strict=True):
        own = path.name if sum(p.name == path.name for p in paths) == 1 else "/".join(path.parts)
        _copy_file(files, path, target / own, name)
        copied.append(own)
    return copied


def relative_path(name: str) -> PurePosixPath:
    """Return a listed file's path. Raises InvalidCell for a web address, or a path that leads out of the folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    if "://" in name:
        raise InvalidCell(f"{name[:80]!r} is a web address; download the file and list its name")
    if path.is_absolute() or ".." in path.parts or not path.parts or not name.isprintable():
        raise InvalidCell(f"{name[:80]!r} is outside the folder of attachments")
    return path


def _copy_file(files: Path, path: PurePosixPath, target: Path, name: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        raise InvalidCell(f"{name[:80]!r} is listed twice")
    with open_listed_file(files, path, name) as source, target.open("xb") as out:
        shutil.copyfileobj(source, out, 1 << 20)


def open_listed_file(files: Path, path: PurePosixPath, name: str) -> BinaryIO:
    """Open a file below `files` without following links, because the folder is untrusted. Raises InvalidCell."""
    folder = os.open(files, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for step in path.parts[:-1]:
            inner = _open_named(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, folder)
            os.close(folder)
            folder = inner
        file = os.fdopen(_open_named(path.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, folder), "rb")
    except FileNotFoundError:
        near = difflib.get_close_matches(path.name, sorted(_names(folder))[:SUGGESTION_LIMIT], 1)
        raise InvalidCell(f"{name[:80]!r}: no such file{f'; did you mean {near[0]!r}?' if near else ''}") from None
    except OSError as e:
        raise InvalidCell(f"{name[:80]!r}: {(e.strerror or type(e).__name__).lower()}") from None
    except UnicodeEncodeError:
        raise InvalidCell(f"{name[:80]!r} cannot be the name of a file") from None
    finally:
        os.close(folder)
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size <= FILE_LIMIT:
        return file
    file.close()
    too_big = f"has more than {FILE_LIMIT >> 30} GiB"
    raise InvalidCell(f"{name[:80]!r} {too_big if stat.S_ISREG(found.st_mode) else 'is not a regular file'}")


def _open_named(name: str, flags: int, folder: int) -> int:
    """Open a name in a folder; if it is missing, open the only name that differs just in Unicode composition.

    macOS writes `é` as a letter and an accent, tables write it as one character; to people both are the same name.
    """
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        plain = unicodedata.normalize("NFC", name)
        same = [] if plain.isascii() else [n for n in _names(folder) if unicodedata.normalize("NFC", n) == plain]
        if len(same) != 1:
            raise
        return os.open(same[0], flags, dir_fd=folder)


def _names(folder: int) -> list[str]:
    with os.scandir(folder) as found:
        return [entry.name for entry in found]


def _manifest(posting: Posting, id: str, day: date, provenance: str) -> str:
    job, source = posting.job, posting.source.value
    about: dict[str, object] = {
        "category": posting.category, "occupation": posting.occupation, "licence": posting.licence,
        "provenance": provenance, "tags": [*posting.tags, *exclusion_tags(job)],
    }  # fmt: skip
    known = {"date": posting.day or day, "source": source}
    if (price := posting.price) is not None:
        about["value"] = {"low": price.low, "high": price.high, "currency": job.currency, **known}
    if (time := posting.time) is not None:
        about["hours"] = {"low": time.low, "high": time.high, **known}
    places = _placeholder_settings(posting.description)
    lines = [
        f"id = {_toml(id)}", f"title = {_toml(' '.join(posting.title.split()))}", 'version = "1"',
        f'canary = "worksample-canary-{uuid.uuid5(_NAMESPACE, "canary:" + job.contract)}"',
        "", "[about]", *(f"{k} = {_toml(v)}" for k, v in about.items() if v),
        "", "[about.job]", *(f"{k} = {_toml(v)}" for k, v in _plain_job(posting).items()),
        "", *_gradings(posting), "[[instance]]", 'name = "job"',
        f"title = {_toml(' '.join(posting.title.split()))}",
    ]  # fmt: skip
    # A placeholder in the client's text is ordinary text, so a setting restores it.
    lines += [f"settings = {_toml({name: text for text, name in places.items()})}"] if places else []
    return "\n".join(lines) + "\n"


def _placeholder_settings(description: str) -> dict[str, str]:
    """Map each text that looks like a placeholder of a setting to the setting that restores it.

    The setting has the text's own name, or a numbered one if the text contains spaces.
    """
    found = {m[0]: m[1] for m in _PLACEHOLDER.finditer(description)}
    taken = set(found.values())
    free = (name for n in count(1) if (name := f"text-{n}") not in taken)
    return {text: name if text == f"{{{{{name}}}}}" else next(free) for text, name in found.items()}


def _gradings(posting: Posting) -> list[str]:
    """Return the grading tables: `rubric` if there are criteria, `holistic` if there is a reference or no criteria."""
    out = ["[grading.rubric]", ""] if posting.criteria.criteria else []
    if posting.reference or not out:
        out += ["[grading.holistic]", ""]
    return out


def _plain_job(posting: Posting) -> dict[str, object]:
    body = posting.job.model_dump()
    return {k: v for k, v in body.items() if v not in (None, "", ())}


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    if isinstance(value, date):
        return value.isoformat()
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _toml(name)


def _brief(posting: Posting, inputs: list[str]) -> str:
    provided = "\n".join(f"- `{name}`" for name in sorted(inputs)) or "Nothing but this description."
    places = _placeholder_settings(posting.description)
    description = _PLACEHOLDER.sub(lambda m: f"{{{{{places[m[0]]}}}}}", posting.description)
    return f"{BEFORE}{description}{AFTER}{provided}{FRAME}"


def criteria_text(criteria: Criteria) -> str:
    """Return criteria as `criteria.toml`."""
    out = []
    for c in criteria.criteria:
        weight = f'importance = "{c.importance.value}"' if c.importance else f"points = {c.points!r}"
        flags = "".join(f"{name} = true\n" for name in ("gate", "implies_others") if getattr(c, name))
        out.append(f'[[criterion]]\nid = "{c.id}"\ntext = {_toml(c.text)}\n{weight}\nby = "{c.by.value}"\n{flags}')
    return "\n".join(out)
