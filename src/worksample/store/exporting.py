"""The frames as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import UsageError

from .faults import keeping

if TYPE_CHECKING:
    from .store import Store

FORMATS = ("parquet", "jsonl")


def export(store: Store, folder: Path, format: str = "parquet", experiment: str | None = None) -> list[Path]:
    """Write every frame into `folder` as `trials.parquet` and so on; returns the files.

    `format` is `parquet` or `jsonl` (times as ISO 8601). Files of those names are replaced. Raises UsageError,
    StoreFull.
    """
    if format not in FORMATS:
        raise UsageError(f"no export format {format!r}", next=f"one of {', '.join(FORMATS)}")
    from . import frames

    made = []
    for name in frames.__all__:
        frame = getattr(frames, name)(store, experiment)
        path = folder / f"{name.removesuffix('_df')}.{format}"
        draft = path.with_name(path.name + ".part")
        with keeping(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
            if format == "parquet":
                frame.write_parquet(draft)
            else:
                frame.write_ndjson(draft)
            draft.rename(path)
        made.append(path)
    return made
