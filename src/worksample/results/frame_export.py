"""Export of all tables (frames) of the store as Parquet or JSON Lines files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from worksample.errors import UsageError
from worksample.store.error_translation import translate_os_errors

if TYPE_CHECKING:
    from worksample.store import Store

FORMATS = ("parquet", "jsonl")


def export(store: Store, folder: Path, format: str = "parquet", experiment: str | None = None) -> list[Path]:
    """Write every frame of the store into `folder`, such as `trials.parquet`, and return the paths of the files.

    format: `parquet`, or `jsonl` with times in ISO 8601. Existing files with the same names are replaced. Raises
    UsageError for another format; StoreFull if the disk is full.
    """
    if format not in FORMATS:
        raise UsageError(f"no export format {format!r}", next=f"one of {', '.join(FORMATS)}")
    from worksample.store.dataframes import comparisons_df, evaluations_df, submissions_df, trials_df

    from .slot_results import slots_df

    made = []
    for name, read in (
        ("comparisons", comparisons_df), ("evaluations", evaluations_df), ("slots", slots_df),
        ("submissions", submissions_df), ("trials", trials_df),
    ):  # fmt: skip
        frame = read(store, experiment)
        path = folder / f"{name}.{format}"
        draft = path.with_name(path.name + ".part")
        with translate_os_errors(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
            if format == "parquet":
                frame.write_parquet(draft)
            else:
                frame.write_ndjson(draft)
            draft.rename(path)
        made.append(path)
    return made
