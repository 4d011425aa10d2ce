"""The table of file formats: how each format is shown, which converter it needs, and whether this machine has this
converter.
"""

from __future__ import annotations

from dataclasses import dataclass

from . import converter_requirements as needs

_N, _C, _T = "native", "converted", "thumbnail only"


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


_TABLE: tuple[tuple[str, str, str, str, tuple[str, ...]], ...] = (
    ("text and source code", "txt log json xml yaml toml py js ts css sh sql r c cpp java mtl", "text", _N, ()),
    ("Markdown", "md markdown", "markdown", _C, ("markdown-it-py",)),
    ("Jupyter notebook", "ipynb", "notebook", _N, ()),
    ("TeX", "tex ltx", "tex", _C, ("pandoc",)),
    ("PDF", "pdf", "pdf", _N, ("poppler",)),
    ("word processing", "doc docx docm odt rtf fodt", "pdf", _C, ("libreoffice", "poppler")),
    ("slides", "ppt pptx pps ppsx odp fodp", "pdf", _C, ("libreoffice", "poppler")),
    ("spreadsheet", "xls xlsx xlsm xlsb ods fods", "workbook", _C, ("libreoffice", "poppler")),
    ("delimited table", "csv tsv", "table", _N, ()),
    ("picture", "png jpg jpeg gif bmp webp ico avif svg", "image", _N, ()),
    ("picture that browsers lack", "tif tiff jp2 dds", "pages", _C, ("pillow",)),
    ("camera raw", "dng cr2 nef arw", "pages", _T, ("pillow",)),
    ("Photoshop", "psd psb", "pages", _C, ("psd-tools",)),
    ("sound", "mp3 wav ogg opus flac aac m4a aiff wma", "audio", _N, ("ffmpeg",)),
    ("film", "mp4 m4v webm mov mkv avi wmv mpg mts flv", "video", _N, ("ffmpeg",)),
    ("MIDI", "mid midi", "midi", _C, ("fluidsynth", "mido", "soundfont", "ffmpeg")),
    ("3D model", "glb gltf obj stl ply fbx 3ds dae 3mf 3dm", "model", _N, ()),
    ("SketchUp", "skp", "model", _C, ("openskp",)),
    ("STEP", "stp step", "cad", _N, ()),
    ("DXF", "dxf", "cad", _C, ("ezdxf",)),
    ("DWG", "dwg", "cad", _C, ("ezdwg", "ezdxf")),
    ("IFC", "ifc", "ifc", _N, ()),
    ("Inventor", "ipt iam", "card", _T, ("olefile",)),
    ("Revit", "rvt rfa rte", "card", _T, ("olefile",)),
    ("SQLite", "sqlite db", "database", _N, ()),
    ("Anki deck", "apkg", "cards", _N, ()),
    ("web site", "html htm", "site", _N, ()),
    ("archive", "zip tar gz tgz bz2 xz", "archive", _N, ()),
    ("other archive", "7z rar zst", "archive", _C, ("bsdtar",)),
)


def formats() -> list[Format]:
    """Return all formats with their requirements and whether this machine meets them. The requirements are checked only
    once per process.
    """
    out = []
    for title, extensions, kind, badge, names in _TABLE:
        lacking = needs.missing(names)
        says = f"converted ({needs.name_with_version(names[0])})" if badge == _C and names and not lacking else badge
        line = needs.install_line(lacking)
        out.append(Format(title, tuple(extensions.split()), kind, says, names, not lacking, line))
    return out


def expected_format(name: str) -> Format | None:
    """Return the format that the name of a file suggests, or None. The content of the file may later show another
    format.
    """
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return next((f for f in formats() if extension in f.extensions), None)
