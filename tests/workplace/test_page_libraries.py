"""The npm packages of web pages."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

from worksample.workplace.page_libraries import LIBRARIES


def test_served_files_are_extracted_and_nothing_lands_elsewhere(tmp_path: Path) -> None:
    archive, folder = tmp_path / "c.tgz", tmp_path / "out"
    folder.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        for name in (
            "package/dist/converse.min.js", "package/dist/locales/de.js", "package/dist/converse.min.js.map",
            "package/package.json", "package/dist/../../../evil.js", "package/dist//etc/evil.js",
        ):  # fmt: skip
            member = tarfile.TarInfo(name)
            member.size = len(name)
            tar.addfile(member, io.BytesIO(name.encode()))
        link = tarfile.TarInfo("package/dist/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    LIBRARIES[0].unpack(archive, folder)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert found == {"c.tgz", "out/converse.min.js", "out/locales/de.js"}
    assert (folder / "locales/de.js").read_text() == "package/dist/locales/de.js"
