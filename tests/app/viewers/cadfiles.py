"""Small parts, buildings and drawings, written entity by entity."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from app.viewers.solids import CORNERS, QUADS


class Exchange:
    """An ISO 10303-21 file in the making: each entity gets the next number."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        self.lines.append(text)
        return f"#{len(self.lines)}"

    def text(self) -> str:
        head = "FILE_DESCRIPTION((''),'2;1');\nFILE_NAME('','2026-01-01T00:00:00',(''),(''),'','','');"
        head += f"\nFILE_SCHEMA(('{self.schema}'));"
        body = "\n".join(f"#{n}={line};" for n, line in enumerate(self.lines, 1))
        return f"ISO-10303-21;\nHEADER;\n{head}\nENDSEC;\nDATA;\n{body}\nENDSEC;\nEND-ISO-10303-21;\n"


def _vector(numbers: tuple[float, ...]) -> str:
    return "(" + ",".join(f"{v:.6f}".rstrip("0") for v in numbers) + ")"


def step(colour: tuple[float, float, float] = (0.8, 0.2, 0.2)) -> str:
    """A box of 2 x 3 x 4 mm in one colour, as a solid of six planes."""
    x = Exchange("AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }")
    application = x.add("APPLICATION_CONTEXT('automotive design')")
    x.add(f"APPLICATION_PROTOCOL_DEFINITION('draft international standard','automotive_design',1998,{application})")
    context = x.add(f"PRODUCT_CONTEXT('',{application},'mechanical')")
    product = x.add(f"PRODUCT('Box','Box','',({context}))")
    formation = x.add(f"PRODUCT_DEFINITION_FORMATION('','',{product})")
    defined = x.add(f"PRODUCT_DEFINITION_CONTEXT('part definition',{application},'design')")
    definition = x.add(f"PRODUCT_DEFINITION('design','',{formation},{defined})")
    shape = x.add(f"PRODUCT_DEFINITION_SHAPE('','',{definition})")
    length = x.add("(LENGTH_UNIT()NAMED_UNIT(*)SI_UNIT(.MILLI.,.METRE.))")
    angle = x.add("(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.))")
    solid_angle = x.add("(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT())")
    exact = x.add(f"UNCERTAINTY_MEASURE_WITH_UNIT(LENGTH_MEASURE(1.E-05),{length},'distance_accuracy_value','')")
    space = x.add(
        f"(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNCERTAINTY_ASSIGNED_CONTEXT(({exact}))"
        f"GLOBAL_UNIT_ASSIGNED_CONTEXT(({length},{angle},{solid_angle}))REPRESENTATION_CONTEXT('',''))"
    )
    brep = _brep(x)
    origin = _placed(x, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    whole = x.add(f"ADVANCED_BREP_SHAPE_REPRESENTATION('',({origin},{brep}),{space})")
    x.add(f"SHAPE_DEFINITION_REPRESENTATION({shape},{whole})")
    paint = x.add(f"COLOUR_RGB('',{','.join(f'{c:.3f}' for c in colour)})")
    inside = x.add(f"FILL_AREA_STYLE_COLOUR('',{paint})")
    fill = x.add(f"FILL_AREA_STYLE('',({inside}))")
    filled = x.add(f"SURFACE_STYLE_FILL_AREA({fill})")
    side = x.add(f"SURFACE_SIDE_STYLE('',({filled}))")
    usage = x.add(f"SURFACE_STYLE_USAGE(.BOTH.,{side})")
    assigned = x.add(f"PRESENTATION_STYLE_ASSIGNMENT(({usage}))")
    styled = x.add(f"STYLED_ITEM('color',({assigned}),{brep})")
    x.add(f"MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION('',({styled}),{space})")
    return x.text()


def _placed(x: Exchange, at: tuple[float, ...], axis: tuple[float, ...], along: tuple[float, ...]) -> str:
    point = x.add(f"CARTESIAN_POINT('',{_vector(at)})")
    up = x.add(f"DIRECTION('',{_vector(axis)})")
    right = x.add(f"DIRECTION('',{_vector(along)})")
    return x.add(f"AXIS2_PLACEMENT_3D('',{point},{up},{right})")


def _brep(x: Exchange) -> str:
    points = [x.add(f"CARTESIAN_POINT('',{_vector(p)})") for p in CORNERS]
    ends = [x.add(f"VERTEX_POINT('',{p})") for p in points]
    edges: dict[tuple[int, int], str] = {}
    faces = []
    for quad in QUADS:
        turns = []
        for a, b in zip(quad, (*quad[1:], quad[0]), strict=True):
            key = (min(a, b), max(a, b))
            if key not in edges:
                way = tuple(q - p for p, q in zip(CORNERS[key[0]], CORNERS[key[1]], strict=True))
                length = sum(v * v for v in way) ** 0.5
                along = x.add(f"DIRECTION('',{_vector(tuple(v / length for v in way))})")
                vector = x.add(f"VECTOR('',{along},1.)")
                line = x.add(f"LINE('',{points[key[0]]},{vector})")
                edges[key] = x.add(f"EDGE_CURVE('',{ends[key[0]]},{ends[key[1]]},{line},.T.)")
            turns.append(x.add(f"ORIENTED_EDGE('',*,*,{edges[key]},{'.T.' if (a, b) == key else '.F.'})"))
        loop = x.add(f"EDGE_LOOP('',({','.join(turns)}))")
        bound = x.add(f"FACE_OUTER_BOUND('',{loop},.T.)")
        u = [q - p for p, q in zip(CORNERS[quad[0]], CORNERS[quad[1]], strict=True)]
        v = [q - p for p, q in zip(CORNERS[quad[0]], CORNERS[quad[3]], strict=True)]
        n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
        size, side = sum(c * c for c in n) ** 0.5, sum(c * c for c in u) ** 0.5
        place = _placed(x, CORNERS[quad[0]], tuple(c / size for c in n), tuple(c / side for c in u))
        plane = x.add(f"PLANE('',{place})")
        faces.append(x.add(f"ADVANCED_FACE('',({bound}),{plane},.T.)"))
    shell = x.add(f"CLOSED_SHELL('',({','.join(faces)}))")
    return x.add(f"MANIFOLD_SOLID_BREP('Box',{shell})")


def ifc(storeys: int = 2, walls: int = 2) -> str:
    """A house: storeys 3 m high, with so many walls of 4 x 0.3 x 2.8 m each, and what is known of the first."""
    x = Exchange("IFC4")
    identity = iter(range(1, 10_000))
    guid = lambda: f"'{next(identity):022d}'"  # noqa: E731
    metre = x.add("IFCSIUNIT(*,.LENGTHUNIT.,$,.METRE.)")
    units = x.add(f"IFCUNITASSIGNMENT(({metre}))")
    origin = x.add("IFCCARTESIANPOINT((0.,0.,0.))")
    base = x.add(f"IFCAXIS2PLACEMENT3D({origin},$,$)")
    context = x.add(f"IFCGEOMETRICREPRESENTATIONCONTEXT($,'Model',3,1.E-05,{base},$)")
    project = x.add(f"IFCPROJECT({guid()},$,'Project',$,$,$,$,({context}),{units})")
    ground = x.add(f"IFCLOCALPLACEMENT($,{base})")
    site = x.add(f"IFCSITE({guid()},$,'Site',$,$,{ground},$,$,.ELEMENT.,$,$,$,$,$)")
    house = x.add(f"IFCBUILDING({guid()},$,'House',$,$,{ground},$,$,.ELEMENT.,$,$,$)")
    x.add(f"IFCRELAGGREGATES({guid()},$,$,$,{project},({site}))")
    x.add(f"IFCRELAGGREGATES({guid()},$,$,$,{site},({house}))")
    colour = x.add("IFCCOLOURRGB($,0.75,0.35,0.25)")
    shade = x.add(f"IFCSURFACESTYLESHADING({colour},0.)")
    style = x.add(f"IFCSURFACESTYLE($,.BOTH.,({shade}))")
    floors, built = [], []
    for floor in range(storeys):
        level = x.add(f"IFCAXIS2PLACEMENT3D({x.add(f'IFCCARTESIANPOINT((0.,0.,{3.0 * floor}))')},$,$)")
        place = x.add(f"IFCLOCALPLACEMENT({ground},{level})")
        storey = x.add(f"IFCBUILDINGSTOREY({guid()},$,'Storey {floor}',$,$,{place},$,$,.ELEMENT.,{3.0 * floor})")
        floors.append(storey)
        here = [_wall(x, guid, context, place, style, n) for n in range(walls)]
        built += here
        x.add(f"IFCRELCONTAINEDINSPATIALSTRUCTURE({guid()},$,$,$,({','.join(here)}),{storey})")
    x.add(f"IFCRELAGGREGATES({guid()},$,$,$,{house},({','.join(floors)}))")
    rating = x.add("IFCPROPERTYSINGLEVALUE('FireRating',$,IFCLABEL('F90'),$)")
    bears = x.add("IFCPROPERTYSINGLEVALUE('LoadBearing',$,IFCBOOLEAN(.T.),$)")
    common = x.add(f"IFCPROPERTYSET({guid()},$,'Pset_WallCommon',$,({rating},{bears}))")
    x.add(f"IFCRELDEFINESBYPROPERTIES({guid()},$,$,$,({built[0]}),{common})")
    return x.text()


def _wall(x: Exchange, guid: Any, context: str, storey: str, style: str, number: int) -> str:
    at = x.add(f"IFCCARTESIANPOINT((2.,{4.0 * number},0.))")
    place = x.add(f"IFCLOCALPLACEMENT({storey},{x.add(f'IFCAXIS2PLACEMENT3D({at},$,$)')})")
    flat = x.add(f"IFCAXIS2PLACEMENT2D({x.add('IFCCARTESIANPOINT((0.,0.))')},$)")
    outline = x.add(f"IFCRECTANGLEPROFILEDEF(.AREA.,$,{flat},4.,0.3)")
    foot = x.add(f"IFCAXIS2PLACEMENT3D({x.add('IFCCARTESIANPOINT((0.,0.,0.))')},$,$)")
    solid = x.add(f"IFCEXTRUDEDAREASOLID({outline},{foot},{x.add('IFCDIRECTION((0.,0.,1.))')},2.8)")
    x.add(f"IFCSTYLEDITEM({solid},({style}),$)")
    body = x.add(f"IFCSHAPEREPRESENTATION({context},'Body','SweptSolid',({solid}))")
    shape = x.add(f"IFCPRODUCTDEFINITIONSHAPE($,$,({body}))")
    return x.add(f"IFCWALL({guid()},$,'Wall {number}',$,$,{place},{shape},$,$)")


def _saved(document: Any) -> bytes:
    out = io.StringIO()
    document.write(out)
    return out.getvalue().encode()


def plan() -> bytes:
    """Walls, furniture, a layer that is off, two layouts; 20 x 10 metres."""
    import ezdxf

    document = ezdxf.new()  # type: ignore[attr-defined]
    document.header["$INSUNITS"] = 6
    for name, colour in (("walls", 1), ("furniture", 5), ("secret", 3)):
        document.layers.add(name, color=colour)
    document.layers.get("secret").off()
    space = document.modelspace()
    space.add_lwpolyline([(0, 0), (20, 0), (20, 10), (0, 10)], close=True, dxfattribs={"layer": "walls"})
    space.add_line((8, 0), (8, 10), dxfattribs={"layer": "walls"})
    space.add_circle((4, 5), 2, dxfattribs={"layer": "furniture"})
    space.add_text("Kitchen", height=0.8, dxfattribs={"layer": "furniture"}).set_placement((10, 5))
    space.add_hatch(color=2).paths.add_polyline_path([(14, 1), (18, 1), (18, 4), (14, 4)], is_closed=True)
    space.add_line((1, 1), (2, 2), dxfattribs={"layer": "secret"})
    sheet = document.layout("Layout1")
    sheet.add_line((0, 0), (100, 50))
    return _saved(document)


def scattered() -> bytes:
    """A plan of 10 x 5, and one line that lies ten kilometres away."""
    import ezdxf

    document = ezdxf.new()  # type: ignore[attr-defined]
    space = document.modelspace()
    for n in range(300):
        space.add_line((n % 20 / 2, n // 20 / 3), (n % 20 / 2 + 0.4, n // 20 / 3 + 0.3))
    space.add_line((10_000, 10_000), (10_001, 10_001))
    return _saved(document)


def dense(lines: int) -> bytes:
    """As many lines on a spiral, each an entity of its own."""
    import math

    head = "0\nSECTION\n2\nENTITIES\n"
    body = []
    for n in range(lines):
        a, r = n * 0.13, n / lines * 100
        x, y = r * math.cos(a), r * math.sin(a)
        body.append(f"0\nLINE\n8\nL{n % 5}\n10\n{x:.4f}\n20\n{y:.4f}\n11\n{x + 1:.4f}\n21\n{y + 1:.4f}\n")
    return (head + "".join(body) + "0\nENDSEC\n0\nEOF\n").encode()


def dwg(folder: Path) -> bytes:
    """Lines, a circle and a polyline, of AutoCAD 2000; 20 x 10."""
    import ezdwg  # type: ignore[import-untyped]

    document = ezdwg.new()
    space = document.modelspace()
    for y in range(11):
        space.add_line((0, y), (20, y))
    space.add_circle((10, 5), 3)
    space.add_lwpolyline([(2, 2), (6, 2), (4, 6)])
    document.save(str(folder / "viewed.dwg"))
    return (folder / "viewed.dwg").read_bytes()
