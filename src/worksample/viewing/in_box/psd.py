"""Converter of Photoshop files: shows the merged picture and the tree of layers."""

from __future__ import annotations

from typing import Any

from .browser_image import PIXELS
from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, fault, module
from .raster_image import save

LAYERS = 2_000


def convert(job: ConversionJob) -> ViewDraft:
    module("psd_tools", "psd-tools")
    from psd_tools import PSDImage

    head = job.head(26)
    height, width = int.from_bytes(head[14:18], "big"), int.from_bytes(head[18:22], "big")
    if width * height > PIXELS:
        raise Unreadable(f"the PSD has {width:,} x {height:,} pixels, more than can be shown")
    try:
        document = PSDImage.open(str(job.file))
        left = [LAYERS]
        layers = [_layer(layer, left, 0) for layer in reversed(list(document)) if left[0] > 0]
        image = document.topil() if document.has_preview() else document.composite()
    except READERS_FAULTS as e:
        raise fault(e, "the PSD") from e
    if image is None:
        raise Unreadable("the PSD file has no picture that can be shown")
    made = ViewDraft("pages", by="psd-tools")
    save(job, made, image, 0)
    made.meta = {
        "format": "PSB" if head[5] == 2 else "PSD",
        "mode": document.color_mode.name,
        "depth": document.depth,
        "total": 1,
        "pages": [{"width": document.width, "height": document.height}],
    }
    made.files["layers"] = job.keep_json("layers.json", layers)
    if left[0] <= 0:
        made.problem = f"only the first {LAYERS:,} layers are listed"
    return made


def _layer(layer: Any, left: list[int], depth: int) -> dict[str, Any]:
    left[0] -= 1
    plain = {
        "name": str(layer.name)[:200],
        "kind": str(layer.kind),
        "visible": bool(layer.is_visible()),
        "opacity": int(layer.opacity),
        "blend": str(getattr(layer.blend_mode, "name", "")),
        "box": [int(v) for v in layer.bbox],
    }
    if layer.is_group() and depth < 50:
        plain["layers"] = [_layer(inner, left, depth + 1) for inner in reversed(list(layer)) if left[0] > 0]
    return plain
