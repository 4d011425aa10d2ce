"""As much of CSS as it takes to say which colours a text has: rules, selectors, cascade, inheritance, contrast."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from colour import BLACK, BUTTON, CLEAR, LINK, NAMED, WHITE, Colour, over, ratio
from page import Node

from worksample.errors import DeliverableError

SIZE = 64 << 10
RULES = 1_000
WORK = 1_000_000
"""Comparisons of an element with a part of a selector, over the whole page: a second or two."""
_HEX = re.compile(r"#([0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})(?![0-9a-zA-Z_-])")
_SIMPLE = re.compile(
    r"([.#]?)([A-Za-z_][\w-]*|\*)"
    r"|\[\s*([\w-]+)\s*(?:([~|^$*]?=)\s*[\"']?([^\"'\]]*)[\"']?\s*)?\]"
    r"|(::?)([\w-]+)(\([^)]*\))?"
)
_STATES = {"hover", "focus", "active", "visited", "focus-visible", "focus-within", "checked", "disabled", "target"}


@dataclass(frozen=True)
class Rule:
    """One selector with its declarations; `weight` orders the cascade."""

    selector: str
    weight: tuple[int, int, int, int]
    declarations: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Sheet:
    rules: tuple[Rule, ...]
    """Rules for the plain state on a wide screen."""
    source: str
    """Without comments."""

    @property
    def colours(self) -> set[str]:
        """Every hexadecimal code, six digits in capitals; those with opacity keep their eight."""
        return {_long(m.group(1)) for m in _HEX.finditer(self._values)}

    @property
    def _values(self) -> str:
        return "\n".join(re.findall(r":([^;{}]*)", self.source))

    @property
    def foreign_colours(self) -> set[str]:
        """Colours that are not written as hexadecimal codes."""
        words = set(re.findall(r"\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix)\s*\(", self._values))
        named = re.findall(
            r"(?<![\w#.-])(" + "|".join(_NAMES.split()) + r")(?![\w(-])", _without_strings(self._values).casefold()
        )
        return {w.rstrip("( ") + "()" for w in words} | set(named)


_NAMES = """
white black red green blue yellow orange purple pink brown gray grey silver navy teal maroon olive lime aqua cyan
magenta
fuchsia gold beige ivory tan khaki crimson coral salmon tomato indigo violet whitesmoke gainsboro
lightgray lightgrey darkgray darkgrey dimgray dimgrey saddlebrown wheat linen chocolate steelblue royalblue
"""


def _without_strings(text: str) -> str:
    # Without a bracket inside: else each of many that are never closed would be followed to the end.
    return re.sub(r"\"[^\"]*\"|'[^']*'|var\([^()]*\)|url\([^()]*\)", " ", text)


def _long(code: str) -> str:
    code = "".join(c * 2 for c in code) if len(code) in (3, 4) else code
    return (code[:6] if code[6:].casefold() == "ff" else code).upper()


def parse(source: str) -> Sheet:
    """The rules of a style sheet; ValueError over a limit. Narrow-screen, print and state rules colour nothing here."""
    if len(source) > SIZE:
        raise ValueError(f"is larger than {SIZE} characters")
    plain = re.sub(r"/\*.*?(\*/|\Z)", " ", source, flags=re.DOTALL)
    rules = list(_rules(plain, 0))
    if len(rules) > RULES:
        raise ValueError(f"has more than {RULES} rules")
    return Sheet(tuple(rules), plain)


def _rules(text: str, depth: int) -> Iterator[Rule]:
    place, order = 0, 0
    while (start := text.find("{", place)) >= 0:
        head = text[place:start].rpartition(";")[2].strip()
        end = _closing(text, start)
        body, place = text[start + 1 : end], end + 1
        if head.startswith("@"):
            wide = re.match(r"@media\b", head) and not re.search(r"max-width|print|prefers|max-height", head)
            if depth < 4 and (wide or re.match(r"@(supports|layer)\b", head)):
                yield from _rules(body, depth + 1)
            continue
        declarations = tuple(_declarations(body))
        for selector in _split(head, ","):
            order += 1
            yield Rule(selector.strip(), (*_specificity(selector), order), declarations)


def _closing(text: str, start: int) -> int:
    level = 0
    for place in range(start, len(text)):
        level += {"{": 1, "}": -1}.get(text[place], 0)
        if level == 0:
            return place
    return len(text)


def _split(text: str, mark: str) -> list[str]:
    parts, level, last = [], 0, 0
    for place, char in enumerate(text):
        level += {"(": 1, "[": 1, ")": -1, "]": -1}.get(char, 0)
        if char == mark and level == 0:
            parts.append(text[last:place])
            last = place + 1
    return [*parts, text[last:]]


def _declarations(body: str) -> Iterator[tuple[str, str, bool]]:
    for item in _split(body, ";"):
        name, colon, value = item.partition(":")
        if colon:
            name = name.strip()
            firm = bool(re.search(r"!\s*important\s*$", value))
            value = re.sub(r"!\s*important\s*$", "", value).strip()
            yield (name if name.startswith("--") else name.casefold()), value, firm


def _specificity(selector: str) -> tuple[int, int, int]:
    ids = classes = tags = 0
    for match in _SIMPLE.finditer(selector):
        mark, name, attribute, _, _, colons, _, _ = match.groups()
        ids += mark == "#"
        classes += mark == "." or attribute is not None or colons == ":"
        tags += (mark == "" and name not in (None, "*")) or colons == "::"
    return ids, classes, tags


class Work:
    """Counts comparisons; a page and a sheet made to be slow are refused."""

    def __init__(self) -> None:
        self.left = WORK

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise DeliverableError(f"takes more than {WORK:,} comparisons of elements and selectors")


def matches(node: Node, selector: str, work: Work) -> bool:
    """Whether `selector` (compounds joined by space, `>`, `+` or `~`) picks the element in its plain state."""
    parts = list(_steps(selector))
    return bool(parts) and parts[-1] not in (">", "+", "~") and _match(node, parts, work)


@lru_cache(maxsize=4 * RULES)
def _steps(selector: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[>+~]|(?:\[[^\]]*\]|\([^)]*\)|[^\s>+~])+", selector[:500]))


def _match(node: Node, parts: list[str], work: Work) -> bool:
    if not _compound(node, parts[-1], work):
        return False
    rest = parts[:-1]
    if not rest:
        return True
    link = rest.pop() if rest[-1] in (">", "+", "~") else " "
    if not rest or rest[-1] in (">", "+", "~"):
        return False
    if link in "+~":
        before = _siblings_before(node, work)
        return any(_match(n, rest, work) for n in (before[-1:] if link == "+" else before))
    above = [n for n in node.above() if not n.tag.startswith("#")]
    return any(_match(n, rest, work) for n in (above[:1] if link == ">" else above))


def _siblings_before(node: Node, work: Work) -> list[Node]:
    line = [c for c in node.parent.children if isinstance(c, Node)] if node.parent else []
    work.spend(len(line) // 8)
    return line[: line.index(node)] if node in line else []


def _compound(node: Node, compound: str, work: Work) -> bool:
    place = 0
    while place < len(compound):
        work.spend(1)
        match = _SIMPLE.match(compound, place)
        if match is None or not _simple(node, match, work):
            return False
        place = match.end()
    return True


def _simple(node: Node, match: re.Match[str], work: Work) -> bool:
    mark, name, attribute, sign, value, colons, pseudo, argument = match.groups()
    if attribute is not None:
        held = node.attrs.get(attribute)
        if held is None or sign is None:
            return held is not None
        return {
            "=": held == value,
            "~=": value in held.split(),
            "^=": held.startswith(value),
            "$=": held.endswith(value),
            "*=": value in held,
            "|=": held == value or held.startswith(value + "-"),
        }[sign]
    if colons:
        return _pseudo(node, (colons, pseudo, argument), work)
    if mark == ".":
        return name in node.attrs.get("class", "").split()
    if mark == "#":
        return node.attrs.get("id") == name
    return name == "*" or name.casefold() == node.tag


def _pseudo(node: Node, said: tuple[str, str, str | None], work: Work) -> bool:
    colons, pseudo, argument = said
    if colons == "::" or pseudo in _STATES:
        return False
    if pseudo == "root":
        return node.tag == "html"
    if pseudo in ("link", "any-link"):
        return node.tag == "a" and "href" in node.attrs
    if pseudo == "first-child":
        return not _siblings_before(node, work)
    if pseudo in ("not", "is", "where") and argument:
        hit = any(matches(node, s, work) for s in _split(argument[1:-1], ","))
        return hit != (pseudo == "not")
    return True


class Styles:
    """The colours of every element of a page under a sheet and the browser's own defaults."""

    def __init__(self, sheet: Sheet) -> None:
        self._rules = sheet.rules
        self._cache: dict[int, dict[str, str]] = {}
        self._work = Work()

    def declared(self, node: Node) -> dict[str, str]:
        """The winning declarations of an element, by property."""
        if id(node) not in self._cache:
            won: dict[str, tuple[tuple[bool, tuple[int, ...]], str]] = {}
            for position, rule in enumerate(self._rules):
                if matches(node, rule.selector, self._work):
                    for name, value, firm in rule.declarations:
                        name = "background-color" if name == "background" else name
                        rank = (firm, (*rule.weight[:3], position))
                        if name not in won or rank >= won[name][0]:
                            won[name] = (rank, value)
            self._cache[id(node)] = {name: value for name, (_, value) in won.items()}
        return self._cache[id(node)]

    def variable(self, node: Node, name: str) -> str | None:
        for place in (node, *node.above()):
            value = self.declared(place).get(name)
            if value is not None:
                return value
        return None

    def colour_in(self, node: Node, value: str, depth: int = 0) -> Colour | str | None:
        """The colour in a value, "inherit" or "currentcolor", or None where it holds none."""
        match = re.search(r"var\(\s*(--[\w-]+)\s*(?:,([^()]*))?\)", value)
        if match and depth < 8:
            inner = self.variable(node, match.group(1))
            inner = match.group(2) or "" if inner is None else inner
            return self.colour_in(node, value[: match.start()] + inner + value[match.end() :], depth + 1)
        found = _HEX.search(value)
        if found:
            code = _long(found.group(1)).ljust(8, "F")
            red, green, blue, alpha = (int(code[i : i + 2], 16) for i in (0, 2, 4, 6))
            return (float(red), float(green), float(blue), alpha / 255)
        word = value.strip().casefold()
        if word in ("inherit", "unset", "currentcolor"):
            return "inherit" if word == "unset" else word
        plain = CLEAR if word in ("none", "initial") else None
        return next((c for n, c in NAMED.items() if re.search(rf"\b{n}\b", word)), plain)

    def text_colour(self, node: Node) -> Colour:
        for place in (node, *node.above()):
            value = self.declared(place).get("color")
            colour = self.colour_in(place, value) if value is not None else None
            if isinstance(colour, tuple):
                return colour
            if colour is None and place.tag == "a" and "href" in place.attrs:
                return LINK
            if colour is None and place.tag in ("button", "input", "select", "textarea"):
                return BLACK
        return BLACK

    def ground(self, node: Node) -> tuple[Colour, bool]:
        """The colour behind an element's text, and whether a picture or gradient lies there."""
        layers: list[Colour] = []
        picture = False
        for place in (node, *node.above()):
            own = self.declared(place)
            value = own.get("background-color")
            shown = " ".join(own.get(n, "") for n in ("background-color", "background-image"))
            picture = picture or "url(" in shown or "gradient(" in shown
            colour = self.colour_in(place, value) if value is not None else None
            if colour == "currentcolor":
                colour = self.text_colour(place)
            if colour is None and place.tag in ("button", "input", "select", "textarea"):
                colour = (
                    WHITE if place.attrs.get("type") not in ("submit", "button") and place.tag != "button" else BUTTON
                )
            if isinstance(colour, tuple) and colour[3] > 0:
                layers.append(colour)
                if colour[3] >= 1:
                    break
        base = WHITE
        for layer in reversed(layers):
            base = over(layer, base)
        return base, picture

    def contrast(self, node: Node) -> float:
        """Contrast of an element's text with what lies behind it, 1..21 (WCAG 2.1, 1.4.3)."""
        ground, _ = self.ground(node)
        colour = self.text_colour(node)
        for place in (node, *node.above()):
            shown = re.match(r"\s*(\d*\.?\d+)(%?)", self.declared(place).get("opacity", "1"))
            if shown:
                part = float(shown.group(1)) / (100 if shown.group(2) else 1)
                colour = (*colour[:3], colour[3] * min(1.0, part))
        return ratio(over(colour, ground), ground)

    def unseen(self, node: Node) -> bool:
        """Whether the sheet hides the element: no display, no visibility, no size of type."""
        for place in (node, *node.above()):
            own = self.declared(place)
            if own.get("display") == "none" or own.get("visibility") in ("hidden", "collapse"):
                return True
            if re.fullmatch(r"0[a-z%]*", own.get("font-size", "1")) or re.fullmatch(
                r"0?\.?0+%?", own.get("opacity", "1")
            ):
                return True
        return False
