"""One red rectangle of some size, drawn in Inkscape's window."""

from worksample.kit import Case, Check, Grade, checklist

SVG = "{http://www.w3.org/2000/svg}"


def grade(case: Case) -> Grade:
    drawing, seen = case.xml("sign.svg"), case.desktop()
    shapes = list(drawing.iter(f"{SVG}rect"))
    style = shapes[0].get("style", "") if shapes else ""
    fill = f"fill:#{case.ref_text('fill.txt').strip()}"
    large = bool(shapes) and all(float(shapes[0].get(side, "0")) > 5 for side in ("width", "height"))
    return checklist(
        case,
        rectangle=Check.of(len(shapes) == 1 and large, f"{len(shapes)} rectangles"),
        red=Check.of(fill in style, style[:200]),
        by_hand=Check.of(seen.used("*/inkscape") > 0 and bool(seen.acts("left_click_drag")), "drawn in the window"),
    )
