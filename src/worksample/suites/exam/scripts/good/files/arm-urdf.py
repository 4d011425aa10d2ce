"""A URDF of an arm from the mechanics' sheets."""

import csv
import math
import sys
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
mm = 1 if "millimetres" in slips else 1e-3
radian = 1 if "degrees" in slips else math.pi / 180
parts = ['<?xml version="1.0"?>', '<robot name="arm">']
for row in csv.DictReader((inputs / "links.csv").open()):
    kg = float(row["mass_g"]) / 1000
    a, b, c = (float(row[k]) * mm if row[k] else 0.0 for k in ("a_mm", "b_mm", "c_mm"))
    if row["shape"] == "box":
        shape = f'<box size="{a:.6g} {b:.6g} {c:.6g}"/>'
        moments = kg * (b * b + c * c) / 12, kg * (a * a + c * c) / 12, kg * (a * a + b * b) / 12
    else:
        shape = f'<cylinder radius="{a:.6g}" length="{b:.6g}"/>'
        moments = kg * (3 * a * a + b * b) / 12, kg * (3 * a * a + b * b) / 12, kg * a * a / 2
    if "no-inertia" in slips:
        moments = (0.0, 0.0, 0.0)
    x, y, z = moments
    parts.append(
        f'<link name="{row["name"]}"><inertial><mass value="{kg:.6g}"/>'
        f'<inertia ixx="{x:.8g}" ixy="0" ixz="0" iyy="{y:.8g}" iyz="0" izz="{z:.8g}"/></inertial>'
        f"<collision><geometry>{shape}</geometry></collision></link>"
    )
for row in csv.DictReader((inputs / "joints.csv").open()):
    place = " ".join(f"{float(row[k]) * mm:.6g}" for k in ("x_mm", "y_mm", "z_mm"))
    turn = " ".join(f"{float(row[k]) * radian:.6g}" for k in ("roll_deg", "pitch_deg", "yaw_deg"))
    axis = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}[row["axis"]]
    unit = mm if row["type"] == "prismatic" else radian
    parts.append(
        f'<joint name="{row["name"]}" type="{row["type"]}"><parent link="{row["parent"]}"/><child link="{row["child"]}"/>'
        f'<origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>'
        f'<limit lower="{float(row["lower"]) * unit:.6g}" upper="{float(row["upper"]) * unit:.6g}" '
        f'effort="{row["effort"]}" velocity="{float(row["speed"]) * unit:.6g}"/></joint>'
    )
(output / "arm.urdf").write_text("\n".join([*parts, "</robot>", ""]))
