"""Checks that the agent cannot reach the reference or its answers: whole files, rows, distinctive values."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

from worksample.files.tables.delimited import SAMPLE, BrokenText, records, sniff
from worksample.records import Instance, Manifest, unquote_path
from worksample.store import Store

from .findings import AuditCheck, Finding, error, warning

TEXT_LIMIT = 4 << 20
_WORDS = re.compile(r"[^\W_]+(?:[.,:/-][^\W_]+)*")
_BETWEEN = re.compile(r"[,;|]")
_NUMBER = re.compile(r"^-?\d+(?:[.,]\d+)*$")


def check_leaks(store: Store, instance: Instance, reference: str) -> Iterator[Finding]:
    """Compare the reference with all that the agent's sandbox contains: inputs, software, brief and probes."""
    ref = store.manifest(reference)
    reach = {
        "inputs": store.manifest(instance.work.inputs),
        "software": store.manifest(instance.work.software),
        "probes": store.manifest(instance.capture.probes),
    }
    by_digest = {e.blob: f"{part}/{e.path}" for part, manifest in reach.items() for e in manifest.files if e.size}
    within = {part: _texts(store, manifest) for part, manifest in reach.items()}
    within["brief"] = {"brief.md": instance.work.brief}
    for entry in ref.files:
        if entry.blob in by_digest and entry.size:
            yield error(
                AuditCheck.LEAK,
                f"the reference file {entry.path} is also in {by_digest[entry.blob]}",
                instance.name,
                "remove it from the agent's files",
            )
    for path, text in _texts(store, ref).items():
        yield from _rows(instance, path, text, within)
        yield from _values(instance, path, text, within)


def _texts(store: Store, manifest: Manifest) -> dict[str, str]:
    """Return the files that can be read as text, by path."""
    out = {}
    for entry in manifest.files:
        if entry.blob is None or not 0 < entry.size <= TEXT_LIMIT:
            continue
        data = store.blobs.read(entry.blob)
        if b"\0" in data[:8192]:
            continue
        out[unquote_path(entry.path).decode("utf-8", "replace")] = data.decode("utf-8", "replace")
    return out


def _normal(line: str) -> str:
    return " ".join(line.split()).casefold()


def _telling(line: str) -> bool:
    """Return whether a line is distinctive. Lines of fewer than three words or three cells may occur in two files by
    chance.
    """
    return len(_WORDS.findall(line)) >= 3 or len(_BETWEEN.findall(line)) >= 2


def _rows(instance: Instance, path: str, text: str, within: dict[str, dict[str, str]]) -> Iterator[Finding]:
    """Report a file of the agent's sandbox that contains most of a reference's distinctive lines unchanged."""
    lines = {_normal(line) for line in text.splitlines()[1:]}
    lines = {line for line in lines if len(line) >= 12 and _telling(line)}
    if len(lines) < 2:
        return
    for part, files in within.items():
        for other, body in files.items():
            shared = lines & {_normal(line) for line in body.splitlines()}
            share = len(shared) / len(lines)
            if share >= 0.9:
                yield error(
                    AuditCheck.LEAK,
                    f"{len(shared)} of {len(lines)} lines of the reference {path} are also in {part}/{other}",
                    instance.name,
                    "remove the answer from the agent's files",
                )
            elif share >= 0.5:
                yield warning(
                    AuditCheck.LEAK,
                    f"{len(shared)} of {len(lines)} lines of the reference {path} are also in {part}/{other}",
                    instance.name,
                    "check that the task requires more than leaving lines out",
                )


def _values(instance: Instance, path: str, text: str, within: dict[str, dict[str, str]]) -> Iterator[Finding]:
    """Report a file of the agent's sandbox that contains every distinctive value of a small answer (JSON or a table of
    figures).
    """
    values = {v for v in _leaves(path, text) if _distinctive(v)}
    if len(values) < 3:
        return
    for part, files in within.items():
        for other, body in files.items():
            there = {v for v in values if re.search(rf"(?<![\w.]){re.escape(v)}(?![\w]|\.\d)", body)}
            if there == values and not _is_table(other):
                yield error(
                    AuditCheck.LEAK,
                    f"all {len(values)} distinctive values of the reference {path} are also in {part}/{other}",
                    instance.name,
                    "remove the answer from the agent's files",
                )


def _is_table(name: str) -> bool:
    """Return whether a file is raw data, which may contain single values of an answer: only lines are compared then."""
    return name.casefold().endswith((".csv", ".tsv", ".log", ".xlsx", ".sql", ".jsonl"))


def _distinctive(value: str) -> bool:
    """Return whether a value is long enough not to occur by chance: a number of five digits, or of four with a
    fraction.
    """
    digits = sum(c.isdigit() for c in value)
    return bool(_NUMBER.match(value)) and (digits >= 5 or (digits >= 4 and ("." in value or "," in value)))


def _leaves(path: str, text: str) -> Iterator[str]:
    if path.endswith(".json"):
        try:
            stack = [json.loads(text)]
        except (ValueError, RecursionError):
            return
        while stack:
            node = stack.pop()
            if isinstance(node, dict):
                stack.extend(node.values())
            elif isinstance(node, list):
                stack.extend(node)
            elif isinstance(node, (str, int, float)) and not isinstance(node, bool):
                yield str(node)
    elif path.endswith((".csv", ".tsv")):
        separator = "\t" if path.endswith(".tsv") else ""
        dialect = sniff(text[:SAMPLE], whole=len(text) <= SAMPLE, separator=separator)
        try:
            for record in records(io.StringIO(text, newline=""), dialect):
                yield from record.cells
        except BrokenText:
            return
