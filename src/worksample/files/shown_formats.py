"""File formats that the viewer of deliverables shows: the one list from which the viewer and the agents' prompts are
made.
"""

from __future__ import annotations

from dataclasses import dataclass

NATIVE, CONVERTED, THUMBNAIL = "native", "converted", "thumbnail only"


@dataclass(frozen=True, slots=True)
class ShownFormat:
    """A file format that the viewer shows.

    `badge` says how: by the browser itself, after a conversion, or only as a thumbnail. `needs` lists names in
    `worksample.viewing.converter_requirements.NEEDS`; a viewer without these requirements shows only a card.
    """

    title: str
    extensions: tuple[str, ...]
    kind: str
    badge: str
    needs: tuple[str, ...] = ()


SHOWN_FORMATS: tuple[ShownFormat, ...] = tuple(
    ShownFormat(title, tuple(extensions.split()), kind, badge, needs)
    for title, extensions, kind, badge, needs in (
        (
            "text and source code",
            "txt log json xml yaml toml py js ts css sh sql r c cpp java mtl",
            "text",
            NATIVE,
            (),
        ),
        ("Markdown", "md markdown", "markdown", CONVERTED, ("markdown-it-py",)),
        ("Jupyter notebook", "ipynb", "notebook", NATIVE, ()),
        ("TeX", "tex ltx", "tex", CONVERTED, ("pandoc",)),
        ("PDF", "pdf", "pdf", NATIVE, ("poppler",)),
        ("word processing", "doc docx docm odt rtf fodt", "pdf", CONVERTED, ("libreoffice", "poppler")),
        ("slides", "ppt pptx pps ppsx odp fodp", "pdf", CONVERTED, ("libreoffice", "poppler")),
        ("spreadsheet", "xls xlsx xlsm xlsb ods fods", "workbook", CONVERTED, ("libreoffice", "poppler")),
        ("delimited table", "csv tsv", "table", NATIVE, ()),
        ("picture", "png jpg jpeg gif bmp webp ico avif svg", "image", NATIVE, ()),
        ("picture that browsers lack", "tif tiff jp2 dds", "pages", CONVERTED, ("pillow",)),
        ("camera raw", "dng cr2 nef arw", "pages", THUMBNAIL, ("pillow",)),
        ("Photoshop", "psd psb", "pages", CONVERTED, ("psd-tools",)),
        ("sound", "mp3 wav ogg opus flac aac m4a aiff wma", "audio", NATIVE, ("ffmpeg",)),
        ("film", "mp4 m4v webm mov mkv avi wmv mpg mts flv", "video", NATIVE, ("ffmpeg",)),
        ("MIDI", "mid midi", "midi", CONVERTED, ("fluidsynth", "mido", "soundfont", "ffmpeg")),
        ("3D model", "glb gltf obj stl ply fbx 3ds dae 3mf 3dm", "model", NATIVE, ()),
        ("SketchUp", "skp", "model", CONVERTED, ("openskp",)),
        ("STEP", "stp step", "cad", NATIVE, ()),
        ("DXF", "dxf", "cad", CONVERTED, ("ezdxf",)),
        ("DWG", "dwg", "cad", CONVERTED, ("ezdwg", "ezdxf")),
        ("IFC", "ifc", "ifc", NATIVE, ()),
        ("Inventor", "ipt iam", "card", THUMBNAIL, ("olefile",)),
        ("Revit", "rvt rfa rte", "card", THUMBNAIL, ("olefile",)),
        ("SQLite", "sqlite db", "database", NATIVE, ()),
        ("Anki deck", "apkg", "cards", NATIVE, ()),
        ("web site", "html htm", "site", NATIVE, ()),
        ("archive", "zip tar gz tgz bz2 xz", "archive", NATIVE, ()),
        ("other archive", "7z rar zst", "archive", CONVERTED, ("bsdtar",)),
    )
)


def formats_text() -> str:
    """Return the formats for an agent's prompt, by how well the viewer shows them, with their file extensions."""
    whole = [_entry(one) for one in SHOWN_FORMATS if one.badge != THUMBNAIL]
    partly = [_entry(one) for one in SHOWN_FORMATS if one.badge == THUMBNAIL]
    return f"{'; '.join(whole)}. Of these formats it shows at most a thumbnail: {'; '.join(partly)}"


def _entry(one: ShownFormat) -> str:
    return f"{one.title} ({' '.join(one.extensions)})"
