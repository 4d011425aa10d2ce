from .content_sink import HashSink as HashSink
from .content_sink import Sink as Sink
from .folder_scanner import Scan as Scan
from .folder_scanner import ScanLimits as ScanLimits
from .folder_scanner import read_manifest as read_manifest
from .folder_scanner import scan as scan
from .folder_writer import materialise as materialise
from .zip_archive import unzip as unzip
