"""Settings of a request that go no further, noted once each in the transcript."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import JsonValue

MOST = 200
"""Settings that are noted for one trial."""
LONGEST = 100


def note_settings(names: Iterable[str], noted: set[str]) -> None:
    """Note in the sample's transcript what was not noted before; `noted` grows."""
    from inspect_ai.log import transcript

    new: list[JsonValue] = []
    new += sorted({name[:LONGEST] for name in names} - noted)[: MOST - len(noted)]
    if new:
        noted.update(map(str, new))
        transcript().info({"not passed on to the model": new}, source="door")
