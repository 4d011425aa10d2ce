"""Names of keys as `xdotool` knows them, and the X keysyms that they stand for."""

from __future__ import annotations

_NAMED = {
    "BackSpace": 0xFF08, "Tab": 0xFF09, "Linefeed": 0xFF0A, "Clear": 0xFF0B, "Return": 0xFF0D, "Pause": 0xFF13,
    "Scroll_Lock": 0xFF14, "Sys_Req": 0xFF15, "Escape": 0xFF1B, "Delete": 0xFFFF, "Multi_key": 0xFF20,
    "Home": 0xFF50, "Left": 0xFF51, "Up": 0xFF52, "Right": 0xFF53, "Down": 0xFF54, "Prior": 0xFF55, "Page_Up": 0xFF55,
    "Next": 0xFF56, "Page_Down": 0xFF56, "End": 0xFF57, "Begin": 0xFF58, "Select": 0xFF60, "Print": 0xFF61,
    "Execute": 0xFF62, "Insert": 0xFF63, "Undo": 0xFF65, "Redo": 0xFF66, "Menu": 0xFF67, "Find": 0xFF68,
    "Cancel": 0xFF69, "Help": 0xFF6A, "Break": 0xFF6B, "Num_Lock": 0xFF7F, "KP_Space": 0xFF80, "KP_Tab": 0xFF89,
    "KP_Enter": 0xFF8D, "KP_F1": 0xFF91, "KP_F2": 0xFF92, "KP_F3": 0xFF93, "KP_F4": 0xFF94, "KP_Home": 0xFF95,
    "KP_Left": 0xFF96, "KP_Up": 0xFF97, "KP_Right": 0xFF98, "KP_Down": 0xFF99, "KP_Prior": 0xFF9A, "KP_Next": 0xFF9B,
    "KP_Page_Up": 0xFF9A, "KP_Page_Down": 0xFF9B, "KP_End": 0xFF9C, "KP_Begin": 0xFF9D, "KP_Insert": 0xFF9E,
    "KP_Delete": 0xFF9F, "KP_Equal": 0xFFBD, "KP_Multiply": 0xFFAA, "KP_Add": 0xFFAB, "KP_Separator": 0xFFAC,
    "KP_Subtract": 0xFFAD, "KP_Decimal": 0xFFAE, "KP_Divide": 0xFFAF, "Shift_L": 0xFFE1, "Shift_R": 0xFFE2,
    "Control_L": 0xFFE3, "Control_R": 0xFFE4, "Caps_Lock": 0xFFE5, "Shift_Lock": 0xFFE6, "Meta_L": 0xFFE7,
    "Meta_R": 0xFFE8, "Alt_L": 0xFFE9, "Alt_R": 0xFFEA, "Super_L": 0xFFEB, "Super_R": 0xFFEC, "Hyper_L": 0xFFED,
    "Hyper_R": 0xFFEE, "ISO_Level3_Shift": 0xFE03, "ISO_Left_Tab": 0xFE20, "XF86Back": 0x1008FF26,
    "XF86Forward": 0x1008FF27, "space": 0x20, "exclam": 0x21, "quotedbl": 0x22, "numbersign": 0x23, "dollar": 0x24,
    "percent": 0x25, "ampersand": 0x26, "apostrophe": 0x27, "parenleft": 0x28, "parenright": 0x29, "asterisk": 0x2A,
    "plus": 0x2B, "comma": 0x2C, "minus": 0x2D, "period": 0x2E, "slash": 0x2F, "colon": 0x3A, "semicolon": 0x3B,
    "less": 0x3C, "equal": 0x3D, "greater": 0x3E, "question": 0x3F, "at": 0x40, "bracketleft": 0x5B,
    "backslash": 0x5C, "bracketright": 0x5D, "asciicircum": 0x5E, "underscore": 0x5F, "grave": 0x60, "braceleft": 0x7B,
    "bar": 0x7C, "braceright": 0x7D, "asciitilde": 0x7E,
}  # fmt: skip
_NAMED |= {f"F{number}": 0xFFBD + number for number in range(1, 36)}
_NAMED |= {f"KP_{number}": 0xFFB0 + number for number in range(10)}
_SHORT = {
    "ctrl": "Control_L", "control": "Control_L", "alt": "Alt_L", "option": "Alt_L", "shift": "Shift_L",
    "super": "Super_L", "win": "Super_L", "windows": "Super_L", "cmd": "Super_L", "command": "Super_L",
    "meta": "Meta_L", "enter": "Return", "esc": "Escape", "del": "Delete", "ins": "Insert", "pgup": "Prior",
    "pgdn": "Next", "pageup": "Prior", "pagedown": "Next", "arrowup": "Up", "arrowdown": "Down", "arrowleft": "Left",
    "arrowright": "Right", "altgr": "ISO_Level3_Shift", "capslock": "Caps_Lock", "printscreen": "Print",
}  # fmt: skip
_FOLDED = {name.lower(): name for name in _NAMED} | _SHORT
SHIFT = _NAMED["Shift_L"]
_PLAIN = "abcdefghijklmnopqrstuvwxyz`1234567890-=[]\\;',./"
_SHIFTED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ~!@#$%^&*()_+{}|:"<>?'
_WITH_SHIFT = {ord(plain): ord(shifted) for plain, shifted in zip(_PLAIN, _SHIFTED, strict=True)}
_NEEDS_SHIFT = frozenset(_WITH_SHIFT.values())


def needs_shift(keysym: int) -> bool:
    """Return whether a key types this keysym only with Shift, on the X server's keyboard (US)."""
    return keysym in _NEEDS_SHIFT


def with_shift(keysym: int) -> int:
    """Return the keysym that a key gives while Shift is held. The X server would otherwise release Shift for it."""
    return _WITH_SHIFT.get(keysym, keysym)


def keysym_of_character(character: str) -> int:
    """Return the keysym that types a character."""
    if character in "\n\r":
        return _NAMED["Return"]
    if character == "\t":
        return _NAMED["Tab"]
    code = ord(character)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else 0x01000000 | code


def keysym_of_name(name: str) -> int | None:
    """Return the keysym of a key's name, such as `ctrl`, or of a single character. None if no key has this
    name.
    """
    if name in _NAMED:
        return _NAMED[name]
    if len(name) == 1 and name.isprintable():
        return keysym_of_character(name)
    folded = _FOLDED.get(name.lower())
    return _NAMED[folded] if folded else None


def chord(text: str) -> list[int]:
    """Return the keysyms of a combination such as `ctrl+shift+s`. Raises ValueError that names the unknown key."""
    names = [part for part in text.replace("++", "+plus").split("+") if part] if text != "+" else ["plus"]
    found = []
    for name in names:
        keysym = keysym_of_name(name.strip())
        if keysym is None:
            raise ValueError(f"there is no key {name[:40]!r}; keys are named as xdotool does, such as Return or ctrl+s")
        found.append(keysym)
    if not found:
        raise ValueError("no key is named; name one such as Return or ctrl+s")
    return found
