"""Take identifiers out of DICOM files (explicit VR, little endian), byte by byte, and keep everything else."""

import csv
import hashlib
import struct
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rules = {row["tag"]: row for row in csv.DictReader((inputs / "profile.csv").open())}
LONG = (b"OB", b"OW", b"SQ", b"UN", b"UT")


def changed(action, value, salt):
    if action == "empty":
        return b""
    if action == "pseudonym":
        return ("P" + hashlib.sha256(salt + value.strip(b" \0")).hexdigest()[:10].upper()).encode() + b" "
    if action == "year":
        return value if "full-dates" in slips else value[:4] + b"0101"
    return value


def cleaned(data, salt):
    out, at = data[:132], 132
    while at < len(data):
        group, element = struct.unpack_from("<HH", data, at)
        kind = data[at + 4 : at + 6]
        if kind in LONG:
            (length,), begin = struct.unpack_from("<I", data, at + 8), at + 12
        else:
            (length,), begin = struct.unpack_from("<H", data, at + 6), at + 8
        value = data[begin : begin + length]
        name, at = f"({group:04X},{element:04X})", begin + length
        if group % 2 and "keeps-private" not in slips:
            continue
        action = rules[name]["action"] if name in rules else "keep"
        if action == "remove":
            continue
        if name == "(0010,0010)" and "name-left" in slips:
            action = "keep"
        value = changed(action, value, salt)
        head = struct.pack("<HH", group, element) + kind
        out += (
            head + (b"\0\0" + struct.pack("<I", len(value)) if kind in LONG else struct.pack("<H", len(value))) + value
        )
    return out


salt = (inputs / "salt.txt").read_bytes().strip()
for path in sorted(inputs.glob("*.dcm")):
    (output / path.name).write_bytes(cleaned(path.read_bytes(), salt))
