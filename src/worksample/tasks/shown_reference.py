"""The table `[reference]` of `task.toml`: which files of the reference people see. Graders always see all files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from worksample.files.config_files import Faults, Texts, show_value, validate
from worksample.records import Entry, EntryKind, Frozen, Manifest, unquote_path


@dataclass(frozen=True, slots=True)
class ReferenceVisibility:
    """Patterns for paths in the reference. People see the files that `show` matches, or all files except those that
    `hide` matches. Only one of the two may be set.
    """

    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()

    def of(self, reference: Manifest) -> Manifest | None:
        """Return the part of a reference that people see, without empty folders. Return None if people see the whole
        reference.
        """
        if not self.show and not self.hide:
            return None
        kept = [e for e in reference.entries if e.kind is not EntryKind.FOLDER and self._for_people(path_of(e))]
        above = {parent.as_posix() for e in kept for parent in PurePosixPath(e.path).parents}
        folders = [e for e in reference.entries if e.kind is EntryKind.FOLDER and e.path in above]
        return Manifest(entries=tuple(sorted([*kept, *folders], key=lambda e: e.path)))

    def _for_people(self, path: str) -> bool:
        if self.show:
            return any(fits(path, pattern) for pattern in self.show)
        return not any(fits(path, pattern) for pattern in self.hide)


def fits(path: str, pattern: str) -> bool:
    """Return whether a pattern matches a path, by the same rules as `Case.references`. A pattern that ends in `/`
    matches all files below a folder.
    """
    if pattern.endswith("/"):
        return path.startswith(pattern)
    # `match` knows no pattern without a step, such as "." or "".
    return bool(PurePosixPath(pattern).parts) and PurePosixPath(path).match(pattern)


def path_of(entry: Entry) -> str:
    return unquote_path(entry.path).decode("utf-8", "replace")


class ShownTable(Frozen):
    """The table `[reference]` of `task.toml`."""

    show: Texts = ()
    hide: Texts = ()


def read_shown(data: object, references: Mapping[str, Iterable[str]], faults: Faults) -> ReferenceVisibility:
    """Read the patterns of `[reference]`. A pattern that matches no file is a fault. references: paths of the files of
    each reference folder.
    """
    file, at = "task.toml", "reference"
    table = validate(ShownTable, data, faults, file=file, at=at)
    if table is None:
        return ReferenceVisibility()
    if table.show and table.hide:
        faults.add(
            file,
            f"{at}.hide",
            "cannot be given together with show",
            "only one of the two; files that show does not name are hidden",
        )
    paths = [path for inner in references.values() for path in inner]
    for key, patterns in (("show", table.show), ("hide", table.hide)):
        for pattern in patterns:
            if not any(fits(path, pattern) for path in paths):
                where = ", ".join(dict.fromkeys(references)) or "the reference"
                faults.add(
                    file, f"{at}.{key}", f"{show_value(pattern)} matches no file in {where}", sorted(set(paths))[:10]
                )
    return ReferenceVisibility(table.show, table.hide)
