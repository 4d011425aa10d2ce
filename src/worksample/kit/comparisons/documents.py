"""Structured XML documents: any XML by its elements, BPMN processes as graphs, URDF robots as trees with numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worksample.kit.check_score import Check, average
from worksample.kit.markup import local_name, read_xml
from worksample.kit.numbers import number, plain_text
from worksample.kit.source import UnreadableSource

from .bands import compare_artifacts
from .values import ValueRules, compare_values

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

DEPTH_LIMIT = 200
NODE_LIMIT = 20_000
SHOWN = 5


def document(
    got: Path, want: Path, *, tolerance: float = 0.0, ordered: bool = False, trivial: Sequence[Path] = ()
) -> Check:
    """Return the overlap of the elements of two XML files, each with its path, attributes and text.

    The overlap is the number of equal elements divided by the larger number of elements. Numbers are equal within
    `tolerance`, wherever they stand. ordered: whether the position among siblings of the same name counts. Prefixes of
    namespaces and white space do not count. A file with only the right root scores 0.
    """

    def measure(mine: Element, theirs: Element) -> Check:
        return _overlap(_items(mine, tolerance, ordered), _items(theirs, tolerance, ordered), "element")

    return compare_artifacts(got, want, read_document, measure, trivial=trivial, fillers=lambda root: [_bare(root)])


def read_document(path: Path) -> Element:
    """Read an XML file of at most `DEPTH_LIMIT` levels. Raises UnreadableSource for the faults of `read_xml`."""
    root = read_xml(path)
    level = [root]
    for _ in range(DEPTH_LIMIT):
        level = [child for element in level for child in element]
        if not level:
            return root
    raise UnreadableSource(f"is nested deeper than {DEPTH_LIMIT} levels")


def _bare(root: Element) -> Element:
    from xml.etree.ElementTree import Element as New

    return New(root.tag, dict(root.attrib))


def _items(root: Element, tolerance: float, ordered: bool) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    stack = [(root, local_name(root))]
    while stack:
        element, path = stack.pop()
        content = [f"{key.rpartition('}')[2]}={_text(value, tolerance)}" for key, value in element.attrib.items()]
        found[(path, *sorted(content), _text(element.text or "", tolerance))] += 1
        seen: Counter[str] = Counter()
        for child in element:
            name = local_name(child)
            if name:
                seen[name] += 1
                stack.append((child, f"{path}/{name}[{seen[name]}]" if ordered else f"{path}/{name}"))
    return found


def _text(value: str, tolerance: float) -> str:
    """Return a text for comparison. With a tolerance, numbers become multiples of it."""
    if tolerance > 0:
        parts = value.split()
        read = [number(part, ".") for part in parts]
        if parts and all(one is not None for one in read):
            return " ".join(str(round(one / tolerance)) for one in read if one is not None)
    return plain_text(value)


def _overlap(mine: Counter[Any], theirs: Counter[Any], what: str) -> Check:
    both = (mine & theirs).total()
    share = both / max(1, mine.total(), theirs.total())
    lost, surplus = list((theirs - mine).elements()), list((mine - theirs).elements())
    faults = [f"no {what} {_name(one)}" for one in lost[:SHOWN]] + [
        f"{what} {_name(one)} is not expected" for one in surplus[:SHOWN]
    ]
    return Check(share, "; ".join(faults))


def _name(item: Any) -> str:
    return " ".join(filter(None, map(str, item)))[:120] if isinstance(item, tuple) else str(item)[:120]


@dataclass(frozen=True, slots=True)
class ProcessGraph:
    """A business process: its nodes as (kind, name), and its flows as (from, to, condition), by names of nodes."""

    nodes: Counter[tuple[str, str]]
    flows: Counter[tuple[str, str, str]]


def bpmn(got: Path, want: Path, *, trivial: Sequence[Path] = ()) -> Check:
    """Return the similarity of two BPMN processes: half for the tasks, events and gateways, half for the flows.

    Nodes are the same if kind, name and lane are; ids and positions do not count. Each half is the number of equal
    items divided by the larger number. A process with the right nodes and no flows scores 0. Raises DeliverableError if
    the file is not BPMN, or a flow leads to a node that does not exist.
    """

    def measure(mine: ProcessGraph, theirs: ProcessGraph) -> Check:
        if theirs.flows and not mine.flows & theirs.flows:
            return Check(0.0, "has none of the expected flows")
        return average([_overlap(mine.nodes, theirs.nodes, "node"), _overlap(mine.flows, theirs.flows, "flow")])

    return compare_artifacts(got, want, read_bpmn, measure, trivial=trivial)


_NODES = ("task", "event", "gateway", "subprocess", "callactivity")


def read_bpmn(path: Path) -> ProcessGraph:
    """Read a BPMN file. Raises UnreadableSource if it has no process, more than `NODE_LIMIT` elements, ids that occur
    twice, or a flow to a node that does not exist.
    """
    root = read_document(path)
    if local_name(root) != "definitions":
        raise UnreadableSource(f"is not BPMN: its root is {local_name(root)!r}")
    elements = list(root.iter())
    if len(elements) > NODE_LIMIT:
        raise UnreadableSource(f"has more than {NODE_LIMIT:,} elements")
    lanes = {
        (ref.text or "").strip(): plain_text(lane.get("name"))
        for lane in elements if local_name(lane) == "lane"
        for ref in lane if local_name(ref) == "flowNodeRef"
    }  # fmt: skip
    named: dict[str, tuple[str, str]] = {}
    for element in elements:
        kind = local_name(element).lower()
        if kind.endswith(_NODES):
            key = element.get("id", "")
            if not key or key in named:
                raise UnreadableSource(f"has a node without an id, or the id {key[:60]!r} twice")
            lane = f"@{lanes[key]}" if lanes.get(key) else ""
            named[key] = (kind, plain_text(element.get("name")) + lane)
    flows: Counter[tuple[str, str, str]] = Counter()
    for flow in (e for e in elements if local_name(e) == "sequenceFlow"):
        ends = flow.get("sourceRef", ""), flow.get("targetRef", "")
        for end in ends:
            if end not in named:
                raise UnreadableSource(f"has a flow to or from {end[:60]!r}, which is no node")
        flows[(" ".join(named[ends[0]]), " ".join(named[ends[1]]), plain_text(flow.get("name")))] += 1
    if not named:
        raise UnreadableSource("has no process with nodes")
    return ProcessGraph(Counter(named.values()), flows)


@dataclass(frozen=True, slots=True)
class Robot:
    """A robot description: values of links and joints by name."""

    links: dict[str, Any]
    joints: dict[str, Any]


def urdf(got: Path, want: Path, *, tolerance: float = 1e-4, trivial: Sequence[Path] = ()) -> Check:
    """Return the similarity of two URDF robots: half for the links, half for the joints, value by value.

    Compared are masses, inertias, shapes, origins, axes, limits, and the parent and child of each joint. tolerance:
    allowed difference of numbers. Raises DeliverableError if the joints are no tree over all links.
    """
    rules = ValueRules(tolerance=tolerance)

    def measure(mine: Robot, theirs: Robot) -> Check:
        if theirs.joints and not mine.joints:
            return Check(0.0, "has no joints")
        halves = [compare_values(mine.links, theirs.links, rules)]
        if theirs.joints:
            halves.append(compare_values(mine.joints, theirs.joints, rules))
        return average(halves)

    def fillers(theirs: Robot) -> Iterable[Robot]:
        bare = {
            name: {"parent": joint.get("parent"), "child": joint.get("child")} for name, joint in theirs.joints.items()
        }
        yield Robot(dict.fromkeys(theirs.links, None), bare)

    return compare_artifacts(got, want, read_urdf, measure, trivial=trivial, fillers=fillers)


def read_urdf(path: Path) -> Robot:
    """Read a URDF file. Raises UnreadableSource if it is no robot, or its joints are no tree over all links."""
    root = read_document(path)
    if local_name(root) != "robot":
        raise UnreadableSource(f"is not URDF: its root is {local_name(root)!r}")
    links = {e.get("name", ""): _flat(e) for e in root if local_name(e) == "link"}
    joints = {e.get("name", ""): _flat(e) for e in root if local_name(e) == "joint"}
    if len(links) + len(joints) != sum(1 for e in root if local_name(e) in ("link", "joint")):
        raise UnreadableSource("has two links or two joints with one name")
    _require_tree(links, joints)
    return Robot(links, joints)


def _require_tree(links: dict[str, Any], joints: dict[str, Any]) -> None:
    above: dict[str, str] = {}
    for name, joint in joints.items():
        parent, child = (str(joint.get(f"{end}.link", "")) for end in ("parent", "child"))
        joint["parent"], joint["child"] = parent, child
        if parent not in links or child not in links:
            raise UnreadableSource(f"joint {name[:60]!r} connects a link that does not exist")
        if child in above:
            raise UnreadableSource(f"link {child[:60]!r} has two parents")
        above[child] = parent
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise UnreadableSource(f"has {len(roots)} links without a parent instead of one")
    for link in links:
        at, steps = link, 0
        while at in above and steps <= len(links):
            at, steps = above[at], steps + 1
        if at != roots[0]:
            raise UnreadableSource(f"link {link[:60]!r} hangs in a circle")


def _flat(element: Element) -> dict[str, Any]:
    """Return all attributes below an element as place -> values: numbers if every word is a number, else text."""
    found: dict[str, Any] = {}
    stack = [(child, local_name(child)) for child in element if local_name(child)]
    found |= {key: plain_text(value) for key, value in element.attrib.items() if key != "name"}
    while stack:
        one, at = stack.pop()
        for key, value in one.attrib.items():
            read = [number(word, ".") for word in value.split()]
            found[f"{at}.{key}"] = (
                list(read) if read and None not in read else value if key == "link" else plain_text(value)
            )
        seen: Counter[str] = Counter()
        for child in one:
            name = local_name(child)
            seen[name] += 1
            stack.append((child, f"{at}.{name}" + (f"#{seen[name]}" if seen[name] > 1 else "")))
    return found
