"""The table of file formats: how each format is shown, which converter it needs, and whether this machine has this
converter.
"""

from __future__ import annotations

from dataclasses import dataclass

from worksample.files.shown_formats import CONVERTED, SHOWN_FORMATS

from . import converter_requirements as needs


@dataclass(frozen=True, slots=True)
class Format:
    """A file format. `needs` lists names in `converter_requirements.NEEDS`; without these requirements, only a card is
    shown. `here` says whether this machine has all of them. `line` is the command that installs the missing ones.
    """

    title: str
    extensions: tuple[str, ...]
    kind: str
    badge: str
    needs: tuple[str, ...] = ()
    here: bool = True
    line: str = ""


def formats() -> list[Format]:
    """Return all formats with their requirements and whether this machine meets them. The requirements are checked only
    once per process.
    """
    out = []
    for one in SHOWN_FORMATS:
        lacking = needs.missing(one.needs)
        converts = one.badge == CONVERTED and one.needs and not lacking
        says = f"converted ({needs.name_with_version(one.needs[0])})" if converts else one.badge
        line = needs.install_line(lacking)
        out.append(Format(one.title, one.extensions, one.kind, says, one.needs, not lacking, line))
    return out


def expected_format(name: str) -> Format | None:
    """Return the format that the name of a file suggests, or None. The content of the file may later show another
    format.
    """
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return next((f for f in formats() if extension in f.extensions), None)
