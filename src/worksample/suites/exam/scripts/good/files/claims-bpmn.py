"""An interview's table of steps as BPMN."""

import csv
import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rows = list(csv.DictReader((inputs / "steps.csv").open()))
nodes, flows, lanes = [], [], {}


def node(key, kind, name, role):
    nodes.append(f'<bpmn:{kind} id="{key}" name={quoteattr(name)}/>')
    lanes.setdefault(role, []).append(key)


first = {}
for row in rows:
    key = "n" + row["step"]
    first[row["step"]] = key
    node(key, {"start": "startEvent", "end": "endEvent"}.get(row["kind"], "userTask" if row["kind"] == "person" else "serviceTask"),
         row["action"], row["role"])  # fmt: skip
for row in rows:
    source = "n" + row["step"]
    targets = [one for one in row["next"].split(";") if one]
    if row["question"] and "no-gateways" not in slips:
        gate = "g" + row["step"]
        node(gate, "exclusiveGateway", row["question"], row["role"])
        flows.append((source, gate, ""))
        source = gate
    for target in targets:
        step, _, answer = target.partition("=")
        if "forgets-loops" in slips and int(step) <= int(row["step"]):
            continue
        flows.append((source, first[step], "" if "no-answers" in slips else answer))
text = ['<?xml version="1.0" encoding="UTF-8"?>',
        '<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="urn:claims">',
        '<bpmn:process id="p" isExecutable="false"><bpmn:laneSet id="ls">']  # fmt: skip
for i, (role, keys) in enumerate(lanes.items()):
    refs = "".join(f"<bpmn:flowNodeRef>{key}</bpmn:flowNodeRef>" for key in keys)
    text.append(f'<bpmn:lane id="l{i}" name={quoteattr(role)}>{refs}</bpmn:lane>')
text += ["</bpmn:laneSet>", *nodes]
text += [
    f'<bpmn:sequenceFlow id="f{i}" sourceRef="{a}" targetRef="{b}"'
    + (f" name={quoteattr(name)}" if name else "")
    + "/>"
    for i, (a, b, name) in enumerate(flows)
]
(output / "process.bpmn").write_text("\n".join([*text, "</bpmn:process></bpmn:definitions>", ""]))
