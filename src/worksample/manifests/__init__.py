"""Files that people write (TOML, YAML): read within limits, checked by models, every fault said at once."""

from .checking import WHOLE, checked, in_words
from .faults import Fault, Faults, FaultyManifest, nearest
from .keys import key_of
from .raising import told, unfit
from .reading import Document, Unreadable, load, need_file, read_toml, read_yaml
from .values import Day, Flag, Line, Says, Settings, Size, Texts, parse_size
from .words import shown

__all__ = [
    "WHOLE",
    "Day",
    "Document",
    "Fault",
    "Faults",
    "FaultyManifest",
    "Flag",
    "Line",
    "Says",
    "Settings",
    "Size",
    "Texts",
    "Unreadable",
    "checked",
    "in_words",
    "key_of",
    "load",
    "nearest",
    "need_file",
    "parse_size",
    "read_toml",
    "read_yaml",
    "shown",
    "told",
    "unfit",
]
