"""DXF: each layout drawn as SVG, and the list of its layers."""

from __future__ import annotations

from typing import Any

from .job import Job, Made, Unreadable, module

LAYOUTS = 20
LARGEST = 64 << 20
"""Bytes of a drawing that are read."""


def convert(job: Job) -> Made:
    module("ezdxf", "ezdxf")
    from ezdxf import recover
    from ezdxf.lldxf.const import DXFError

    if job.size > LARGEST:
        raise Unreadable(f"the drawing has {job.size >> 20} MiB, more than the {LARGEST >> 20} that are shown")
    try:
        document, auditor = recover.readfile(str(job.named("dxf")))
    except (DXFError, OSError, ValueError, KeyError, IndexError, AttributeError, TypeError) as e:
        raise Unreadable(f"the DXF is damaged: {str(e)[:200]}") from e
    made = Made("cad", by="ezdxf")
    layers = [
        {"name": layer.dxf.name[:200], "colour": layer.color, "visible": layer.is_on() and not layer.is_frozen()}
        for layer in document.layers
    ][:5_000]
    layouts: list[dict[str, Any]] = []
    said = []
    for layout in list(document.layouts)[:LAYOUTS]:
        found = _draw(document, layout)
        if isinstance(found, str):
            said.append(f"{layout.name[:60]}: {found}")
        elif found is not None:
            svg, box = found
            name = f"layout/{len(layouts)}"
            made.files[name] = job.keep(f"layout-{len(layouts)}.svg", svg)
            layouts.append({"name": layout.name[:200], "file": name, "box": box, "entities": len(layout)})
    if not layouts:
        raise Unreadable("there is nothing to draw in it" + (f" ({'; '.join(said)})" if said else ""))
    made.files["layers"] = job.keep_json("layers.json", layers)
    made.meta = {"format": "DXF", "version": document.acad_release, "layouts": layouts, "layers": len(layers)}
    made.meta |= {"units": int(document.header.get("$INSUNITS", 0)), "repaired": len(auditor.fixes)}
    if auditor.errors:
        said.append(f"{len(auditor.errors)} faults in the file could not be repaired")
    made.problem = "; ".join(said)[:1000]
    return made


def _draw(document: Any, layout: Any) -> tuple[str, list[float]] | str | None:
    """SVG and extent [x0, y0, x1, y1] in drawing units; why not; None for an empty layout."""
    from ezdxf import bbox
    from ezdxf.addons.drawing import config
    from ezdxf.addons.drawing import layout as sheet
    from ezdxf.addons.drawing.frontend import Frontend
    from ezdxf.addons.drawing.properties import RenderContext
    from ezdxf.addons.drawing.svg import SVGBackend

    if len(layout) == 0:
        return None
    try:
        backend = SVGBackend()
        settings = config.Configuration(background_policy=config.BackgroundPolicy.WHITE)
        settings = settings.with_changes(color_policy=config.ColorPolicy.COLOR_SWAP_BW)
        Frontend(RenderContext(document), backend, config=settings).draw_layout(layout)
        extent = bbox.extents(layout, fast=True)
        page = sheet.Page(0, 0, sheet.Units.mm, sheet.Margins.all(5), max_width=1200, max_height=1200)
        svg = backend.get_string(page)
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError, OverflowError) as e:
        return f"cannot be drawn ({str(e)[:200]})"
    if not extent.has_data:
        return None
    low, high = extent.extmin, extent.extmax
    return svg, [round(float(v), 6) for v in (low.x, low.y, high.x, high.y)]
