"""An outside case: what macOS puts into an archive stood among the deliverables."""

from pathlib import Path
from typing import Any

from sandboxes.capture.material import instance
from worksample.experiments.submission_intake import hand_in
from worksample.files.folder_scanner import read_manifest
from worksample.records import Origin
from worksample.store import Store

ARCHIVE = Path(__file__).with_name("mac.zip")


def check(room: Path, request: Any) -> None:
    with Store.open(room / "store", create=True) as store:
        task = instance(store, room / "scratch", deliverables=("totals.csv", "summary.txt"))
        made = hand_in(store, task, ARCHIVE, entrant="p", origin=Origin.PERSON)
        part = made.parts["output"]
        paths = [e.path for e in read_manifest(store.blobs.read(part.manifest)).entries]
    assert (sorted(paths), part.files) == (["summary.txt", "totals.csv"], 2)
    for name in ("__MACOSX/._totals.csv", ".DS_Store"):
        assert name in made.note
