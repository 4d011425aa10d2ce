"""Maps and fields: GeoTIFF rasters, NetCDF variables, and shapes from GeoJSON and Shapefiles."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.errors import Cause, GraderError
from worksample.kit.check_score import Check, average
from worksample.kit.numbers import key_text
from worksample.kit.reader_process import ReaderLimits, Reading, library, read_apart
from worksample.kit.source import UnreadableSource, file_in, read_bytes
from worksample.kit.text import read_json

from .arrays import distances
from .bands import Bands, compare_artifacts, densest, in_bands
from .values import ValueRules, compare_values

if TYPE_CHECKING:
    import numpy as np

EXTRA = "graders-geo"
CELL_LIMIT = 16_000_000
FEATURE_LIMIT = 20_000
CORNER_LIMIT = 500_000
_RASTER = "worksample.kit.comparisons.geodata:raster_of"
_GRIDS = "worksample.kit.comparisons.geodata:grids_of"
_SHAPES = "worksample.kit.comparisons.geodata:shapefile_of"
_LIMITS = ReaderLimits(seconds=60, memory=1 << 30, file=128 << 20)


@dataclass(frozen=True, slots=True)
class Raster:
    """A raster: `values` with the shape (bands, rows, columns) with NaN for cells without data, the six numbers of its
    `transform`, and its coordinate system as text.
    """

    values: np.ndarray
    transform: tuple[float, ...]
    system: str


def raster(got: Path, want: Path, bands: Bands, *, place: float = 0.01, trivial: Sequence[Path] = ()) -> Check:
    """Return the share of a GeoTIFF's cells in each band of distance from the reference's.

    Another size, coordinate system or place scores 0. place: allowed difference of position, as a share of a cell. A
    cell without data is right only if the reference has none at the same place, and cells without data on both sides do
    not count. A constant raster scores 0. Raises DeliverableError if the deliverable is malformed or has more than 16
    million cells.
    """

    def measure(mine: Raster, theirs: Raster) -> Check:
        import numpy as np

        if mine.values.shape != theirs.values.shape:
            return Check(0.0, f"has the shape {mine.values.shape} instead of {theirs.values.shape}")
        if mine.system != theirs.system:
            return Check(0.0, f"has the coordinate system {mine.system[:80]!r} instead of {theirs.system[:80]!r}")
        away = np.abs(np.subtract(mine.transform, theirs.transform)).max()
        if not away <= place * max(abs(theirs.transform[0]), abs(theirs.transform[4])):
            return Check(0.0, f"lies elsewhere: {mine.transform} instead of {theirs.transform}")
        counted = ~(np.isnan(mine.values) & np.isnan(theirs.values))
        return in_bands(distances(mine.values[counted], theirs.values[counted]), bands, "the cells")

    def fillers(theirs: Raster) -> Iterable[Raster]:
        import numpy as np

        known = theirs.values[np.isfinite(theirs.values)]
        if np.ptp(known) > 0:
            for value in (0.0, float(np.median(known)), *densest(known, bands)):
                constant = np.where(np.isnan(theirs.values), np.nan, value)
                yield Raster(constant, theirs.transform, theirs.system)

    return compare_artifacts(got, want, read_raster, measure, trivial=trivial, fillers=fillers)


def read_raster(path: Path) -> Raster:
    """Read a GeoTIFF. Raises UnreadableSource if it is another format, such as a virtual raster, or is too large."""
    import numpy as np

    with path.open("rb") as file:
        if file.read(4) not in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
            raise UnreadableSource("is not a TIFF")
    found = read_apart(_RASTER, path, extra=EXTRA, limits=_LIMITS)
    if not np.isfinite(found.arrays["values"]).any():
        raise UnreadableSource("has no cell with data")
    return Raster(found.arrays["values"], tuple(found.facts["transform"]), found.facts["system"])


def raster_of(path: Path) -> Reading:
    """Return a GeoTIFF's cells, transform and coordinate system. Runs in a reader process."""
    import numpy as np
    import rasterio

    with rasterio.open(path, driver="GTiff") as opened:
        if opened.width * opened.height * opened.count > CELL_LIMIT:
            raise UnreadableSource(f"has more than {CELL_LIMIT:,} cells")
        values = opened.read(masked=True).astype("f8").filled(np.nan)
        return Reading({"transform": list(opened.transform)[:6], "system": _system(opened.crs)}, {"values": values})


def _system(crs: Any) -> str:
    if crs is None:
        return ""
    code = crs.to_epsg()
    return f"EPSG:{code}" if code else str(crs.to_wkt())


def grid(
    got: Path, want: Path, bands: Mapping[str, Bands], *, units: bool = True, trivial: Sequence[Path] = ()
) -> Check:
    """Return the share of the elements of NetCDF variables in each band of distance, averaged over variables.

    bands: name of the variable -> its bands. A variable that is missing, or has other dimensions, another shape or
    (with `units`) another unit, scores 0. Values are unpacked by `scale_factor` and `add_offset`; fill values are right
    only if the reference has them at the same place. A constant field scores 0. Raises DeliverableError if the
    deliverable is malformed; GraderError if the reference lacks a variable.
    """

    def measure(mine: Reading, theirs: Reading) -> Check:
        return average([_variable(mine, theirs, name, limits, units) for name, limits in bands.items()])

    def read(path: Path) -> Reading:
        with path.open("rb") as file:
            if file.read(4) not in (b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF"):
                raise UnreadableSource("is not NetCDF")
        found = read_apart(_GRIDS, path, extra=EXTRA, limits=_LIMITS, options={"names": list(bands)})
        if path == want and (lost := [name for name in bands if name not in found.arrays]):
            raise UnreadableSource(f"has no variable {lost[0]!r}")
        return found

    def fillers(theirs: Reading) -> Iterable[Reading]:
        import numpy as np

        known = {name: field for name, field in theirs.arrays.items() if np.isfinite(field).any()}
        if any(np.nanmax(field) > np.nanmin(field) for field in known.values()):
            guesses = {name: [*densest(field, bands[name]), np.nanmedian(field)] for name, field in known.items()}
            for i in range(max(map(len, guesses.values()))):
                flat = {
                    name: np.where(np.isnan(field), np.nan, guesses[name][min(i, len(guesses[name]) - 1)])
                    for name, field in known.items()
                }
                yield Reading(theirs.facts, flat)

    if not bands:
        raise GraderError("no variables are named", cause=Cause.GRADER_CRASH, next='pass {"t2m": {0.5: 1}}')
    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=fillers)


def _variable(mine: Reading, theirs: Reading, name: str, bands: Bands, units: bool) -> Check:
    import numpy as np

    if name not in mine.arrays:
        return Check(0.0, f"has no variable {name!r}")
    a, b = mine.arrays[name], theirs.arrays[name]
    told, right = mine.facts[name], theirs.facts[name]
    if a.shape != b.shape or told["dimensions"] != right["dimensions"]:
        return Check(0.0, f"{name} has the shape {a.shape} over {told['dimensions']} instead of {b.shape}")
    if units and told["units"] != right["units"]:
        return Check(0.0, f"{name} is in {told['units'][:40]!r} instead of {right['units']!r}")
    counted = ~(np.isnan(a) & np.isnan(b))
    return in_bands(distances(a[counted], b[counted]), bands, f"the values of {name}")


def grids_of(path: Path, names: Sequence[str]) -> Reading:
    """Return variables of a NetCDF file with their dimensions and units. Runs in a reader process."""
    import netCDF4
    import numpy as np

    facts, arrays = {}, {}
    left = CELL_LIMIT
    with netCDF4.Dataset(str(path), "r") as opened:
        for name in names:
            if name not in opened.variables:
                continue
            variable = opened.variables[name]
            left -= int(np.prod(variable.shape, dtype=object))
            if left < 0 or variable.ndim > 16:
                raise UnreadableSource(f"has more than {CELL_LIMIT:,} values")
            if variable.dtype is str or np.dtype(variable.dtype).kind not in "iuf":
                raise UnreadableSource(f"{name} holds no numbers")
            arrays[name] = np.ma.filled(np.ma.masked_invalid(variable[...].astype("f8")), np.nan)
            facts[name] = {"dimensions": list(variable.dimensions), "units": str(getattr(variable, "units", ""))}
    return Reading(facts, arrays)


@dataclass(frozen=True, slots=True)
class Features:
    """Shapes: for each feature its geometry as in GeoJSON and its properties."""

    items: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    corners: int = 0


@dataclass(frozen=True, slots=True)
class ShapeRules:
    """Rules for comparing shapes. key: the property by which features belong together. distance: how far points and
    lines may lie apart to be right. overlap: the share of two areas' union that must be common to both for full marks;
    less counts in proportion. properties: property -> tolerance of its numbers.
    """

    key: str
    distance: float = 0.0
    overlap: float = 1.0
    properties: Mapping[str, float] | None = None


def shapes(got: Path, want: Path, rules: ShapeRules, *, trivial: Sequence[Path] = ()) -> Check:
    """Return the likeness of two sets of shapes, feature by feature: geometry, and properties if any are named.

    Reads GeoJSON, and Shapefiles with the files beside them. Missing and extra features score 0 each. Invalid geometry
    is wrong, not repaired. A set in which every feature is the bounding box of all scores 0. Coordinates are compared
    as they stand: both files must use one coordinate system. Raises DeliverableError if the deliverable is malformed,
    or a key occurs twice; ReferenceUnreadable if the reference is.
    """

    def read(path: Path) -> Features:
        found = read_features(path)
        _by_key(found, rules.key)
        return found

    def measure(mine: Features, theirs: Features) -> Check:
        if mine.corners > max(10_000, 20 * theirs.corners):
            return Check(0.0, f"has {mine.corners:,} corners, but {theirs.corners:,} are expected")
        left, right = _by_key(mine, rules.key), _by_key(theirs, rules.key)
        likeness = _likeness(left, right, rules)
        checks = [_feature(key, left.get(key), right[key], likeness.get(key, 0.0), rules) for key in right]
        checks += [Check(0.0, f"feature {key[:40]!r} is not expected") for key in left if key not in right]
        return average(checks)

    return compare_artifacts(got, want, read, measure, trivial=trivial, fillers=_one_box)


def _by_key(features: Features, key: str) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    found: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
    for geometry, properties in features.items:
        value = properties.get(key)
        name = key_text(value)
        if value is None or name in found:
            raise UnreadableSource(f"has a feature without {key!r}, or {name[:40]!r} twice")
        found[name] = geometry, properties
    return found


def _feature(
    key: str, mine: tuple[dict[str, Any], dict[str, Any]] | None, theirs: tuple[dict[str, Any], dict[str, Any]],
    likeness: float, rules: ShapeRules,
) -> Check:  # fmt: skip
    if mine is None:
        return Check(0.0, f"feature {key[:40]!r} is missing")
    placed = Check(likeness, f"{key[:40]}: geometry {likeness:.3f}" if likeness < 1 else "")
    if not rules.properties:
        return placed
    a, b = ({name: one[1].get(name) for name in rules.properties} for one in (mine, theirs))
    return average([placed, compare_values(a, b, ValueRules(tolerance=dict(rules.properties)))])


def _likeness(left: Mapping[str, Any], right: Mapping[str, Any], rules: ShapeRules) -> dict[str, float]:
    """Return the likeness of the geometries of each common key, from 0 to 1."""
    with library(EXTRA):
        from shapely import GEOSException
        from shapely.geometry import shape

    found = {}
    for key in set(left) & set(right):
        try:
            a, b = shape(left[key][0]), shape(right[key][0])
            found[key] = _one_likeness(a, b, rules) if a.is_valid and not a.is_empty else 0.0
        except (GEOSException, ValueError, TypeError, LookupError, AttributeError):
            found[key] = 0.0
    return found


def _one_likeness(a: Any, b: Any, rules: ShapeRules) -> float:
    if a.geom_type.removeprefix("Multi") != b.geom_type.removeprefix("Multi"):
        return 0.0
    if b.area > 0:
        union = a.union(b).area
        share = a.intersection(b).area / union if union > 0 else 0.0
        return min(1.0, share / rules.overlap)
    return 1.0 if a.hausdorff_distance(b) <= rules.distance * (1 + 1e-9) + 1e-12 else 0.0


def _one_box(theirs: Features) -> Iterable[Features]:
    with library(EXTRA):
        from shapely.geometry import box, mapping, shape

    if len(theirs.items) < 2:
        return
    edges = [shape(geometry).bounds for geometry, _ in theirs.items]
    whole = box(*(pick(values) for pick, values in zip((min, min, max, max), zip(*edges, strict=True), strict=True)))
    yield Features(tuple((dict(mapping(whole)), dict(properties)) for _, properties in theirs.items))


def read_features(path: Path) -> Features:
    """Read a GeoJSON file or a Shapefile. Raises UnreadableSource if it is malformed, has no features, or exceeds a
    limit.
    """
    ending = path.suffix.lower()
    if ending in (".geojson", ".json"):
        told = read_json(path)
    elif ending == ".shp":
        table = file_in(path.parent, path.with_suffix(".dbf").name)
        read_bytes(table, _LIMITS.file)
        options = {"table": str(table.absolute())}
        told = read_apart(_SHAPES, path, extra=EXTRA, limits=_LIMITS, options=options, beside=(table,)).facts
    else:
        raise UnreadableSource("is no .geojson, .json, .shp")
    listed = told.get("features") if isinstance(told, dict) else None
    if not isinstance(listed, list) or not 0 < len(listed) <= FEATURE_LIMIT:
        raise UnreadableSource(f"has no features, or more than {FEATURE_LIMIT:,}")
    items, corners = [], 0
    for one in listed:
        geometry, properties = (one.get("geometry"), one.get("properties")) if isinstance(one, dict) else (None, None)
        if not isinstance(geometry, dict) or not isinstance(properties, dict):
            raise UnreadableSource("has a feature without geometry or properties")
        corners += str(geometry.get("coordinates")).count(",") // 2 + 1
        if corners > CORNER_LIMIT or "coordinates" not in geometry:
            raise UnreadableSource(f"has more than {CORNER_LIMIT:,} corners, or a geometry without coordinates")
        items.append((geometry, properties))
    return Features(tuple(items), corners)


def shapefile_of(path: Path, table: str) -> Reading:
    """Return a Shapefile's features as in GeoJSON. Runs in a reader process. table: the file of its properties."""
    import json

    import shapefile

    with path.open("rb") as shp, Path(table).open("rb") as dbf, shapefile.Reader(shp=shp, dbf=dbf) as opened:
        if len(opened) > FEATURE_LIMIT:
            raise UnreadableSource(f"has more than {FEATURE_LIMIT:,} features")
        features = [
            {"geometry": one.shape.__geo_interface__, "properties": one.record.as_dict(date_strings=True)}
            for one in opened.iterShapeRecords()
        ]
    return Reading({"features": json.loads(json.dumps(features, default=str))})
