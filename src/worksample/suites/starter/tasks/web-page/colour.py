"""Colours, and the contrast between two of them (WCAG 2.1, 1.4.3)."""

from __future__ import annotations

Colour = tuple[float, float, float, float]
"""Red, green, blue in 0..255, and opacity in 0..1."""

WHITE: Colour = (255.0, 255.0, 255.0, 1.0)
BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
CLEAR: Colour = (0.0, 0.0, 0.0, 0.0)
LINK: Colour = (0.0, 0.0, 238.0, 1.0)
BUTTON: Colour = (239.0, 239.0, 239.0, 1.0)
NAMED = {"white": WHITE, "black": BLACK, "transparent": CLEAR}


def over(top: Colour, base: Colour) -> Colour:
    red, green, blue = (t * top[3] + b * (1 - top[3]) for t, b in zip(top[:3], base[:3], strict=True))
    return (red, green, blue, 1.0)


def _luminance(colour: Colour) -> float:
    parts = [c / 255 for c in colour[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(one: Colour, other: Colour) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
