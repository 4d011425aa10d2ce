"""Folders as values, for trusted and for hostile folders alike: scan, lay, unzip."""

from .materialise import materialise
from .scan import Scan, ScanLimits, read_manifest, scan
from .sink import HashSink, Sink
from .unzip import unzip

__all__ = ["HashSink", "Scan", "ScanLimits", "Sink", "materialise", "read_manifest", "scan", "unzip"]
