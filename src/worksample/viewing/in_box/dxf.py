"""Converter of DXF drawings: draws each layout as SVG and lists the layers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from .conversion_job import READERS_FAULTS, ConversionJob, Unreadable, ViewDraft, fault, module

LAYOUTS = 20
LAYERS = 5_000
SPACE = 100_000_000
"""Length of the longer side of the SVG in its integer units."""
LARGEST = 64 << 20
"""Maximum bytes of a drawing that is read."""


def convert(job: ConversionJob) -> ViewDraft:
    if job.size > LARGEST:
        raise Unreadable(f"the drawing has {job.size >> 20} MiB, more than the {LARGEST >> 20} that are shown")
    made = ViewDraft("cad", meta={"format": "DXF"}, by="ezdxf")
    sheets(job, job.copy_as("dxf"), made)
    return made


def sheets(job: ConversionJob, file: Path, made: ViewDraft) -> None:
    """Draw every layout of a DXF file into `made`. Raises Unreadable if there is nothing to draw."""
    module("ezdxf", "ezdxf")
    from ezdxf.lldxf.const import DXFError

    try:
        document, auditor = _load_drawing(file)
    except DXFError as e:
        raise Unreadable(f"the drawing is damaged: {str(e)[:200]}") from e
    except READERS_FAULTS as e:
        raise fault(e, "the drawing") from e
    _complete(document)
    layers = [
        {"name": layer.dxf.name[:200], "colour": layer.color, "visible": layer.is_on() and not layer.is_frozen()}
        for layer in document.layers
    ][:LAYERS]
    numbers = {layer["name"].casefold(): number for number, layer in enumerate(layers)}
    layouts: list[dict[str, Any]] = []
    said = [made.problem] if made.problem else []
    for layout in list(document.layouts)[:LAYOUTS]:
        found = _draw(document, layout, numbers)
        if isinstance(found, str):
            said.append(f"{layout.name[:60]}: {found}")
        elif found is not None:
            svg, box, matrix = found
            name = f"layout/{len(layouts)}"
            made.files[name] = job.write_artefact(f"layout-{len(layouts)}.svg", svg)
            about = {"name": layout.name[:200], "file": name, "box": box, "matrix": matrix, "entities": len(layout)}
            layouts.append(about)
    if not layouts:
        raise Unreadable("the drawing holds nothing that can be shown" + (f" ({'; '.join(said)})" if said else ""))
    made.files["layers"] = job.keep_json("layers.json", layers)
    made.meta = {"version": document.acad_release} | made.meta | {"layouts": layouts, "layers": len(layers)}
    made.meta |= {"units": int(document.header.get("$INSUNITS", 0)), "repaired": len(auditor.fixes)}
    if auditor.errors:
        said.append(f"{len(auditor.errors)} faults in the file could not be repaired")
    made.problem = "; ".join(said)[:1000]


def _load_drawing(file: Path) -> tuple[Any, Any]:
    """Return the drawing and the list of its repaired faults. The reader that repairs faults supports only text DXF."""
    import ezdxf
    from ezdxf import recover

    with file.open("rb") as f:
        if f.read(18) != b"AutoCAD Binary DXF":
            return recover.readfile(str(file))
    document = ezdxf.filemanagement.readfile(str(file))
    return document, document.audit()


def _complete(document: Any) -> None:
    """Give undefined layers the default colour. Otherwise entities on these layers would be drawn in white."""
    named = {str(entity.dxf.layer) for entity in document.entitydb.values() if entity.dxf.hasattr("layer")}
    for name in sorted(named)[:LAYERS]:
        if name not in document.layers:
            with suppress(ValueError, KeyError):
                document.layers.add(name)


def _layer_backend(numbers: dict[str, int]) -> Any:
    """Build a drawing backend whose paths carry the number of their layer."""
    from ezdxf.addons.drawing import svg

    class Render(svg.SVGRenderBackend):
        def add_strokes(self, d: str, properties: Any) -> None:
            # White lines are meant for dark screens. White areas stay, because they cover shapes below.
            if properties.color[:7].lower() == "#ffffff":
                properties = properties._replace(color=f"#000000{properties.color[7:]}")
            super().add_strokes(d, properties)
            self._mark(d, properties)

        def add_filling(self, d: str, properties: Any) -> None:
            super().add_filling(d, properties)
            self._mark(d, properties)

        def _mark(self, d: str, properties: Any) -> None:
            number = numbers.get(str(properties.layer).casefold())
            if d and number is not None:
                self.entities[-1].set("data-layer", str(number))

    class LayerBackend(svg.SVGBackend):
        @staticmethod
        def make_backend(page: Any, settings: Any) -> svg.SVGRenderBackend:
            return Render(page, settings)

    return LayerBackend()


def _draw(document: Any, layout: Any, numbers: dict[str, int]) -> tuple[str, list[float], list[float]] | str | None:
    """Return the SVG of a layout, its extent [x0, y0, x1, y1] in drawing units, and the matrix [a, b, c, d, e, f] from
    drawing units to SVG units.

    Return a text with the reason if the layout cannot be drawn, or None if it is empty.
    """
    from ezdxf import bbox
    from ezdxf.addons.drawing import config
    from ezdxf.addons.drawing import layout as sheet
    from ezdxf.addons.drawing.frontend import Frontend
    from ezdxf.addons.drawing.properties import RenderContext

    if len(layout) == 0:
        return None
    try:
        backend = _layer_backend(numbers)
        settings = config.Configuration(background_policy=config.BackgroundPolicy.WHITE)
        Frontend(RenderContext(document), backend, config=settings).draw_layout(layout)
        extent = bbox.extents(layout, fast=True)
        page = sheet.Page(0, 0, sheet.Units.mm, sheet.Margins.all(5), max_width=1200, max_height=1200)
        # One distant entity would leave a plan too few integer units.
        svg = backend.get_string(page, settings=sheet.Settings(output_coordinate_space=SPACE))
        placed = backend.transformation_matrix
    except READERS_FAULTS as e:
        return f"cannot be drawn ({str(e)[:200]})"
    if not extent.has_data or placed is None:
        return None
    low, high = extent.extmin, extent.extmax
    matrix = [float(placed[row, column]) for row, column in ((0, 0), (0, 1), (1, 0), (1, 1), (3, 0), (3, 1))]
    return svg, [round(float(v), 6) for v in (low.x, low.y, high.x, high.y)], matrix
