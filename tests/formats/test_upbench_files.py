"""Files beside the six tables: exported, imported and exported again, they are equal byte for byte."""

from __future__ import annotations

from pathlib import Path

from formats.test_upbench_refresh import base
from worksample.formats.jobs.job_package import job_folder
from worksample.formats.upbench import ExportUpbench, export_upbench, import_upbench, tables_of, write_tables
from worksample.formats.upbench.deliverable_export import ATTACHMENTS
from worksample.formats.upbench.tables import complete_tables
from worksample.records import Entry, Instance, Submission
from worksample.store import Store, put_canonical

ODD = "a/b: ü 7"
FILES: dict[str, bytes] = {
    "s1/x.txt": b"first",
    "s2/x.txt": b"second",
    "s2/deep/er/Bericht für Öl.pdf": b"%PDF-1.7\n\x00\xff",
    f"{ATTACHMENTS}/j1/style.txt": b"Short sentences.",
    f"{ATTACHMENTS}/{job_folder(ODD)}/style.txt": b"Long ones.",
    f"{ATTACHMENTS}/{job_folder(ODD)}/2/style.txt": b"Or none.",
}
"""Files of two jobs whose attachments have the same names, and of two attempts at one job."""


def laid_out(folder: Path) -> Path:
    for name, data in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    tables = base()
    job = tables["projects"][0]
    tables["projects"] = [
        {**job, "attachments": [{"name": "style.txt", "size": 16}]},
        {**job, "contract_id": ODD, "attachments": ["style.txt", "2/style.txt", "gone.pdf"]},
    ]
    tables["submissions"][1]["deliverables"] = ["deep/er/Bericht für Öl.pdf", "x.txt"]
    write_tables(complete_tables(tables), folder, "jsonl")
    return folder


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and "/" in
            str(p.relative_to(folder))}  # fmt: skip


def test_files_exported_and_imported_export_equal_bytes(tmp_path: Path) -> None:
    source, found = laid_out(tmp_path / "0"), []
    for turn in range(2):
        with Store.open(tmp_path / f"s{turn}", create=True) as store:
            made = import_upbench(store, source, tmp_path / f"jobs{turn}")
            # What the posting names and nobody has stays named.
            assert (made.missing, made.faults) == (1, {})
            inputs = {i.about.job.contract: [f.path for f in store.manifest(i.work.inputs).files]
                      for i in store.find(Instance) if i.about.job}  # fmt: skip
            assert inputs["j1"] == ["style.txt"] and len(inputs[ODD]) == 2
            outputs = {s.id: s.parts["output"] for s in store.find(Submission)}
            assert {part.status.value for part in outputs.values()} == {"complete"}
            found.append((tables_of(store)[0], {id: part.manifest for id, part in outputs.items()}))
            source = tmp_path / str(turn + 1)
            told = export_upbench(store, source, config=ExportUpbench(format="parquet", private=True, files=True))
            assert (told.beside, told.left_out.get("files that no table can name", 0)) == (len(FILES), 0)
            assert files_below(source) == FILES
    assert found[0] == found[1]


def test_files_without_a_valid_name_are_counted_and_not_written(tmp_path: Path) -> None:
    """An agent may give a file any name."""
    with Store.open(tmp_path / "s", create=True) as store:
        import_upbench(store, laid_out(tmp_path / "t"), tmp_path / "jobs")
        [one, _] = store.find(Submission)
        blob = store.blobs.put(b"x")
        names = ("%FF.txt", "a%0Ab", "fine.txt", "gone")
        entries = tuple(Entry(path=n, size=1, blob=None if n == "gone" else blob) for n in names)
        manifest = one.parts["output"].replaced(
            manifest=put_canonical(store.blobs, {"entries": [e.plain() for e in entries]}), files=4
        )
        hostile = one.replaced(id="odd", trial=None, origin="external", experiment=None, parts={"output": manifest})
        store.commit(hostile)
        told = export_upbench(store, tmp_path / "out", config=ExportUpbench(private=True, files=True))
    assert {p.name for p in (tmp_path / "out" / "odd").iterdir()} == {"%FF.txt", "fine.txt"}
    assert told.left_out["files that no table can name"] == 2
    assert set(files_below(tmp_path / "out")) == {*FILES, "odd/fine.txt", "odd/%FF.txt"}


def test_files_of_private_jobs_are_not_exported(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s", create=True) as store:
        import_upbench(store, laid_out(tmp_path / "t"), tmp_path / "jobs")
        told = export_upbench(store, tmp_path / "out", config=ExportUpbench(files=True))
    assert told.beside == 0 and files_below(tmp_path / "out") == {}
