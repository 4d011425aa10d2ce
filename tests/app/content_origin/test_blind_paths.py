"""File names that identify makers, and file names that could do harm."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.content_origin.hosts import Shelf

HIDDEN = ("maker-1", "model-1", "lab/model-1")


async def test_identifying_names_are_hidden_and_found_again(shelf: Shelf) -> None:
    files = {
        "maker-1/report.txt": "one",
        "Maker_1/report.txt": "two",
        "notes by MODEL 1.txt": "three",
        "notes by █████.txt": "four",
        "plain.txt": "five",
        "maker-1.html": "six",
        "maker-12/x.txt": "seven",
    }
    async with shelf.open(files, hidden=HIDDEN) as client:
        answer = await client.get("/.worksample/files")
        rows = [row["path"] for row in answer.json()["entries"] if row["kind"] == "file"]
        assert sorted(rows) == sorted([
            "█████/report.txt", "█████ (2)/report.txt", "notes by █████ (2).txt", "notes by █████.txt", "plain.txt",
            "█████.html", "maker-12/x.txt",
        ])  # fmt: skip
        assert (await client.get("/.worksample/files")).text == answer.text
        got = set()
        for path in rows:
            there = await client.get("/.worksample/original", params={"path": path, "download": "1"})
            said = (await client.get("/" + path)).text
            assert said == there.text and "maker-1." not in there.headers["content-disposition"]
            got.add(said)
        assert got == set(files.values())
        # A page's own links still lead where they led.
        assert (await client.get("/maker-1/report.txt")).text == "one"
    async with shelf.client(shelf.taken(files)) as client:
        assert "maker-1/report.txt" in (await client.get("/.worksample/files")).text


STEPS = st.sampled_from(["maker-1", "Maker 1", "a", "█████", "█████ (2)", "x maker.1 y.txt", "b.txt"])


@given(st.lists(st.lists(STEPS, min_size=1, max_size=3).map("/".join), max_size=12))
def test_hidden_paths_lead_back_to_the_original(paths: list[str]) -> None:
    from worksample.app.content_origin.file_tree import scrub_paths

    paths = sorted(set(paths))
    given_out = scrub_paths(paths, ("maker-1",))
    shown = [given_out.get(path, path) for path in paths]
    assert len(set(shown)) == len(paths)
    assert not any("aker" in name for name in shown)
    assert scrub_paths(paths, ("maker-1",)) == given_out
    for path, name in zip(paths, shown, strict=True):
        above = path.rpartition("/")[0]
        assert name.rpartition("/")[0] == given_out.get(above, above)
