"""Grades a one-page website: what it says, how it is built, whether it can be read, and that it needs no network."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from urllib.parse import unquote, urlsplit

from css import Styles
from delivery import PAGE, SHEET, Site, plain, section
from page import Node, read_page, tidy

from worksample.errors import DeliverableError
from worksample.kit import Case, Check, Grade, average, every, gate_and_score
from worksample.kit.picture import read_image

READABLE = 4.5
LABEL = 300
"""Characters of a label that are looked at."""
FETCHED = {
    "img": ("src", "srcset"),
    "script": ("src",),
    "iframe": ("src",),
    "link": ("href",),
    "object": ("data",),
    "embed": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
    "base": ("href",),
}
"""What a browser fetches by itself: element -> attributes."""


def structure(site: Site) -> Check:
    """Head, landmarks, headings, sections in order, navigation."""
    page, want = site.page, site.want
    first = {tag: next(iter(page.all(tag)), None) for tag in ("html", "header", "nav", "main", "footer", "title")}
    metas = page.all("meta")
    language = first["html"].attrs.get("lang", "") if first["html"] else ""
    title = tidy("".join(c for c in first["title"].children if isinstance(c, str))) if first["title"] else ""
    tops = [plain(n.text) for n in page.all("h1") if n.seen]
    sections = [n for n in page.all("section") if "id" in n.attrs and n.seen]
    headings = [plain(h.text) for s in sections for h in s.all("h2")[:1]]
    levels = [int(n.tag[1]) for n in page.root.below() if re.fullmatch(r"h[1-6]", n.tag) and n.seen]
    targets = {
        a.attrs.get("href", "").removeprefix("./").removeprefix("index.html")
        for n in page.all("nav")
        for a in n.all("a")
    }
    wanted = [(s["id"], plain(s["heading"])) for s in want["sections"]]
    charset = any("charset" in m.attrs or "charset=" in m.attrs.get("content", "") for m in metas)
    viewport = any(
        m.attrs.get("name") == "viewport" and "width=device-width" in m.attrs.get("content", "") for m in metas
    )
    return every(
        [
            Check.of(page.doctype.startswith("doctype html"), "no <!doctype html>"),
            Check.of(language.split("-")[0] == "en", f"lang is {language!r}, not en"),
            Check.of(plain(title) == plain(want["h1"]), f"the title is {title!r}"),
            Check.of(charset and viewport, "no character set or no viewport for phones"),
            Check.of(all(first.values()), f"missing: {', '.join(t for t, n in first.items() if n is None)}"),
            Check.of(tops == [plain(want["h1"])], f"h1: {tops}"),
            Check.of([s.attrs["id"] for s in sections] == [i for i, _ in wanted], "sections or their order differ"),
            Check.of(headings == [h for _, h in wanted], f"section headings: {headings}"),
            Check.of(all(b <= a + 1 for a, b in pairwise(levels)), f"heading levels skip: {levels}"),
            Check.of({f"#{i}" for i, _ in wanted} <= targets, "the navigation does not lead to every section"),
        ]
    )


def copy(site: Site) -> Check:
    """The share of the deck's texts that stand where they belong."""
    checks = []
    for place in [*site.want["sections"], *site.want["around"]]:
        if "id" in place:
            found = site.page.by_id(place["id"])
            text = plain(found.text) if found else ""
        else:
            text = plain(" ".join(n.text for n in site.page.all(place["tag"])))
        for line in place["texts"]:
            checks.append(
                Check.of(plain(line) in text, f"{place.get('id', place.get('tag'))}: {line[:60]!r} is missing")
            )
    return average(checks)


def corrections(site: Site) -> Check:
    """New facts stand on the page, old ones and internal remarks do not, not even in a comment."""
    text = plain(site.page.text)
    source = plain(site.case.text(PAGE))
    checks = []
    for fact in site.want["facts"]:
        checks.append(Check.of(plain(fact["new"]) in text, f"{fact['new']!r} is missing"))
        checks += [Check.of(plain(old) not in text, f"{old!r} is still there") for old in fact["old"]]
    checks += [Check.of(plain(word) not in source, f"internal: {word!r}") for word in site.want["internal"]]
    return every(checks)


def links(site: Site) -> Check:
    """Telephone and mail, and every other link leads somewhere inside."""
    addresses = [a.attrs.get("href", "").strip() for a in site.page.all("a") if a.seen]
    phones = {re.sub(r"[\s().-]", "", a) for a in addresses if a.casefold().startswith("tel:")}
    mails = {a.casefold() for a in addresses if a.casefold().startswith("mailto:")}
    checks = [
        Check.of(phones == {"tel:" + site.want["phone"]}, f"telephone links: {sorted(phones)}"),
        Check.of(mails == {"mailto:" + site.want["mail"]}, f"mail links: {sorted(mails)}"),
        _thanks(site),
    ]
    for address in addresses:
        if not address.casefold().startswith(("tel:", "mailto:")):
            checks.append(Check.of(_leads(site, address), f"the link {address[:80]!r} leads nowhere inside"))
    return every(checks)


def _leads(site: Site, address: str) -> bool:
    name = site.file(address) if address else None
    mark = urlsplit(address).fragment if name else ""
    if name == PAGE and mark:
        return site.page.by_id(unquote(mark)) is not None
    return name is not None and site.exists(name)


def _thanks(site: Site) -> Check:
    name = "site/" + site.want["form"]["action"]
    after = read_page(site.case.text(name), name)
    heading = " ".join(plain(n.text) for n in after.all("h1", "h2"))
    back = any(site.file(a.attrs.get("href", "x:")) == PAGE for a in after.all("a"))
    return Check.of(plain(site.want["form"]["says"]) in heading and back, f"{name} lacks its heading or the link back")


def form(site: Site) -> Check:
    """The form: method, action, fields, labels, button."""
    want = site.want["form"]
    forms = section(site, want["section"]).all("form")
    if len(forms) != 1:
        return Check.of(False, f"{len(forms)} forms in the section {want['section']}")
    one = forms[0]
    action = site.file(one.attrs.get("action", "x:"))
    pressed = [
        b for b in one.all("button", "input") if b.attrs.get("type", "submit" if b.tag == "button" else "") == "submit"
    ]
    names = [plain(b.text or b.attrs.get("value", "")) for b in pressed]
    fields = [n for n in one.all("input", "select", "textarea") if n not in pressed and n.attrs.get("type") != "hidden"]
    checks = [
        Check.of(one.attrs.get("method", "").casefold() == want["method"], "the method differs"),
        Check.of(action == "site/" + want["action"], f"the action is {one.attrs.get('action')!r}"),
        Check.of(names == [plain(want["button"])], f"buttons: {names}"),
        Check.of(len(fields) == len(want["fields"]), f"{len(fields)} fields instead of {len(want['fields'])}"),
    ]
    return every([*checks, *(_field(one, fields, f) for f in want["fields"])])


def _field(one: Node, fields: list[Node], want: dict[str, Any]) -> Check:
    field = next((n for n in fields if n.attrs.get("name") == want["name"]), None)
    if field is None:
        return Check.of(False, f"no field {want['name']}")
    kind = field.tag if field.tag != "input" else field.attrs.get("type", "text").casefold()
    labels = [n for n in one.all("label") if n.attrs.get("for", "\0") == field.attrs.get("id") or field in n.below()]
    said = [
        re.sub(r"\s*(\*|:|\((required|optional)\))+\s*$", "", plain(n.text)[:LABEL])
        for n in labels
        if n.seen and not n.veiled
    ]
    bounds = all(field.attrs.get(k) == str(v) for k, v in want.get("bounds", {}).items())
    right = kind == want["type"] and ("required" in field.attrs) == want["required"] and bounds
    labelled = re.sub(r":$", "", plain(want["label"])) in said
    return Check.of(right and labelled, f"field {want['name']}: type, required, bounds or label differ")


def pictures(site: Site) -> Check:
    """Each picture in its size, showing what it should, with its alternative text."""
    shown = {site.file(n.attrs.get("src", "x:")): n for n in site.page.all("img") if n.seen}
    checks = []
    for want in site.want["pictures"]:
        name = "site/assets/" + want["file"]
        node = shown.get(name)
        if node is None:
            checks.append(Check.of(False, f"{name} is not on the page"))
            continue
        right = "alt" in node.attrs and plain(node.attrs["alt"]) == plain(want["alt"])
        checks.append(Check.of(right, f"{want['file']}: alt is {node.attrs.get('alt')!r}"))
        checks.append(_picture(site, name, want))
    return every(checks)


def _picture(site: Site, name: str, want: dict[str, Any]) -> Check:
    import numpy as np

    got, given = site.case.image(name), read_image(site.case.input("assets/" + want["file"]))
    height = want["width"] * given.height / given.width
    if abs(got.width - want["width"]) > 1 or abs(got.height - height) > max(2.0, 0.02 * height):
        return Check.of(False, f"{want['file']} has {got.width} x {got.height} pixels")
    small = [np.asarray(i.convert("RGBA").convert("RGB").resize((32, 32)), float) for i in (got, given)]
    apart = float(np.abs(small[0] - small[1]).mean())
    return Check.of(apart < 12, f"{want['file']} shows something else")


def colours(site: Site) -> Check:
    """Only the palette's colours, at least three of them, and all text can be read."""
    palette = {c.lstrip("#").upper() for c in site.want["palette"]}
    used = site.sheet.colours
    styles = Styles(site.sheet)
    bad = []
    for node in site.page.root.below():
        words = node.own_text or (node.attrs.get("value", "") if node.attrs.get("type") == "submit" else "")
        if words and node.seen and node.tag != "option":
            measured, (_, picture) = styles.contrast(node), styles.ground(node)
            if measured < READABLE - 0.005 or picture or node.veiled:
                why = "hidden" if node.veiled else "on a picture" if picture else f"{measured:.2f} : 1"
                bad.append(f"{node.tag} {words[:30]!r} {why}")
    styled = site.page.all("style") or any("style" in n.attrs for n in site.page.root.below())
    linked = [
        site.file(n.attrs.get("href", "x:")) for n in site.page.all("link") if "stylesheet" in n.attrs.get("rel", "")
    ]
    return every(
        [
            Check.of(linked == [SHEET] and not styled, "styles.css is not the page's only style"),
            Check.of(used <= palette, f"not in the palette: {', '.join(sorted(used - palette))}"),
            Check.of(not site.sheet.foreign_colours, f"not as codes: {', '.join(sorted(site.sheet.foreign_colours))}"),
            Check.of(len(used & palette) >= 3, "fewer than three colours of the palette"),
            Check.of(not bad, "; ".join(bad[:5])),
        ]
    )


def offline(site: Site) -> Check:
    """Nothing is asked of any network; said of a page that carries at least half of its copy."""
    if copy(site).fraction < 0.5:
        return Check.of(False, "less than half of the copy is on the page")
    asked = []
    for node in site.page.root.below():
        for name in FETCHED.get(node.tag, ()):
            asked += [
                a.split()[0] for a in node.attrs.get(name, "").split(",") if a.split() and not a.strip().startswith("#")
            ]
        if node.tag == "meta" and node.attrs.get("http-equiv", "").casefold() == "refresh":
            asked.append("http:refresh")
    try:
        sheet = site.sheet.source
    except DeliverableError:
        sheet = ""
    asked += re.findall(r"url\(\s*[\"']?([^\"')]+)", sheet) + re.findall(r"@import\s+[\"']([^\"']+)", sheet)
    outside = [a for a in asked if not a.startswith("data:") and site.file(a) is None]
    scripts = site.page.all("script") or any(k.startswith("on") for n in site.page.root.below() for k in n.attrs)
    return every(
        [
            Check.of(not outside, f"asks for {', '.join(outside[:5])}"),
            Check.of(not scripts, "has scripts"),
            Check.of(not site.page.all("iframe", "object", "embed"), "embeds something"),
        ]
    )


def grade(case: Case) -> Grade:
    site = Site(case)
    _ = site.want
    return gate_and_score(
        case,
        gates={"offline": lambda: offline(site)},
        score={
            "structure": lambda: structure(site),
            "copy": lambda: copy(site),
            "corrections": lambda: corrections(site),
            "links": lambda: links(site),
            "form": lambda: form(site),
            "pictures": lambda: pictures(site),
            "colours": lambda: colours(site),
        },
    )
