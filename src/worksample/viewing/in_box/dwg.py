"""Converter of DWG drawings. A drawing is converted to DXF and drawn like a DXF file. If that fails, the thumbnail
stored in the file is shown.
"""

from __future__ import annotations

from typing import Any

from .conversion_job import (
    READERS_FAULTS,
    ConversionJob,
    ConverterFault,
    MissingConverter,
    Unreadable,
    ViewDraft,
    fault,
    module,
)
from .dxf import LARGEST, sheets
from .embedded_thumbnail import dwg_picture

_RELEASES = {"AC1015": "2000", "AC1018": "2004", "AC1021": "2007", "AC1024": "2010", "AC1027": "2013", "AC1032": "2018"}


def convert(job: ConversionJob) -> ViewDraft:
    release = job.head(6).decode("ascii", "replace")
    meta: dict[str, Any] = {"format": "DWG", "version": _RELEASES.get(release, release), "size": job.size}
    try:
        return _draw_as_dxf(job, meta)
    except (MissingConverter, Unreadable, ConverterFault) as e:
        picture = dwg_picture(job)
        if picture is None:
            raise
        why = "its reader is missing on the server" if isinstance(e, MissingConverter) else str(e)
    # The stored preview may be older than the drawing and shows one view.
    made = ViewDraft("card", {"thumbnail": picture}, {"type": "DWG"} | meta, inspectable=False)
    made.badge, made.problem = "thumbnail only", f"only its own picture is shown: {why}"
    return made


def _draw_as_dxf(job: ConversionJob, meta: dict[str, Any]) -> ViewDraft:
    module("ezdwg", "ezdwg")
    import ezdwg  # type: ignore[import-untyped]

    if job.size > LARGEST:
        raise Unreadable(f"the drawing has {job.size >> 20} MiB, more than the {LARGEST >> 20} that are shown")
    target = job.work / "converted.dxf"
    try:
        said = ezdwg.to_dxf(str(job.copy_as("dwg")), str(target))
    except READERS_FAULTS as e:
        raise fault(e, "the drawing") from e
    made = ViewDraft("cad", meta=meta, by="ezdwg")
    left = int(getattr(said, "skipped_entities", 0) or 0)
    if left:
        made.problem = f"{left:,} entities of kinds that cannot be read are left out"
    sheets(job, target, made)
    return made
