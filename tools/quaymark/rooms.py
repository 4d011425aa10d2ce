# ruff: noqa: E501
"""Rooms, and who has them in the week of 16 March: as people typed it."""

from __future__ import annotations

from .formats import letter, table

ROOMS = """
# Rooms
Sofia Marin, January 2026
|Room|Seats|Screen|
|Tern|12|yes|
|Gull|10|yes|
|Plover|10|no|
|Heron|6|yes|
|Wren|4|no|
Whoever books writes a line into the file of the week: room;day;from;to;account;people;what. Nobody changes another's line, or strikes it, unless that person has agreed to it.
"""
HEAD = ("room", "day", "from", "to", "who", "people", "what")
LEAVING = (
    ("Tern", "Thu", "13h", "17h", "imani", 9, "Training Van Rijn Flowers"),
    ("Gull", "Thu", "13:30", "15:30", "grace", 4, "Tablets, tests"),
    ("Gull", "Thu", "16h", "17h", "viktor", "", "maybe a customer??"),
)  # fmt: skip
"""What stands in the way of the board."""
OTHERS = (
    ("Tern", "Mon", "9:00", "9:30", "yusuf", 3, "First day of Jules"), ("Gull", "Mon", "10:00", "11:00", "yusuf", 4, "Sprint 11"), ("Heron", "Mon", "13h", "14h", "nadia", 2, ""),
    ("Plover", "Mon", "15:00", "16:30", "bram", 8, "Drivers"), ("Wren", "Mon", "9:00", "12:00", "dario", 2, "Audit"), ("Tern", "Tue", "9.00", "13.00", "helena", 6, "Bank"),
    ("Gull", "Tue", "8:00", "12:00", "grace", 3, "Regression 1.8"), ("Gull", "tue", "13:00", "14:30", "imani", 5, "Nordvik"), ("Heron", "Tue", "10:00", "12:00", "idris", 3, "Interviews"),
    ("Wren", "Tue", "16h", "17h", "callum", 2, ""), ("Tern", "Wed", "9:00", "12:00", "helena", 3, "Budgets"), ("Gull", "Wed", "10:00", "12:00", "idris", 5, "Architecture"),
    ("Plover", "Wed", "12:00", "13:00", "bram", 9, "Shifts"), ("Heron", "Wed", "13:00", "13:30", "idris", 2, "1:1"), ("Heron", "Wed", "13:00", "13:30", "idris", 2, "1:1"),
    ("Tern", "Thu", "8:00", "13:00", "petra", 5, "Roadmap"), ("Heron", "Thu", "13:00", "17:00", "callum", 3, "Interviews Antwerp"), ("Plover", "Thu", "9:00", "12:00", "sofia", "", "chairs are being mended"),
    ("Wren", "Thu", "10:00", "12:00", "helena", 2, "Insurance"), ("Gull", "Thu", "8:30", "12:30", "lena", 6, "Reviews"), ("Tern", "Fri", "10:00", "11:00", "maren", 12, "All hands"),
    ("Gull", "Fri", "13h", "15h", "mei", 4, "Definitions"), ("Heron", "Fri", "9:00", "9:45", "yusuf", 2, ""),
)  # fmt: skip


def documents() -> dict[str, bytes]:
    """Below company/files."""
    lines = [*OTHERS[:7], LEAVING[1], *OTHERS[7:15], LEAVING[0], *OTHERS[15:20], LEAVING[2], *OTHERS[20:]]
    return {
        "office/rooms/rooms.docx": letter(ROOMS),
        "office/rooms/bookings-2026-w12.csv": table([HEAD, *lines], sign=";"),
        "office/rooms/bookings-2026-w11.csv": table([HEAD, *OTHERS[3:12]], sign=";", encoding="cp1252", end="\r\n"),
    }  # fmt: skip


def kept() -> list[str]:
    """The lines that stay as they are."""
    return [";".join(str(cell) for cell in row) for row in OTHERS]
