"""Merges own translations into what exists: approved messages stay, and own ones win over those under review."""

import csv
import json
import re
import sys
from pathlib import Path

source, own, target = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")), Path(sys.argv[3])
english = json.loads((source / "en.json").read_text(encoding="utf-8"))
existing = json.loads(next(p for p in source.glob("*.json") if p.name != "en.json").read_text(encoding="utf-8"))
status = {row["key"]: row["status"] for row in csv.DictReader((source / "status.csv").open())}
limits = {row["key"]: int(row["max_characters"]) for row in csv.DictReader((source / "limits.csv").open())}
glossary = list(csv.DictReader((source / "glossary.csv").open(encoding="utf-8")))
finished = {}
for key, text in english.items():
    if status[key] == "approved":
        finished[key] = existing[key]
        continue
    message = finished[key] = own.get(key) or existing[key]
    arguments = [
        sorted(set(re.findall(r"\{(\w+)(?:, (?:plural|select|number|date|time))", t))) for t in (text, message)
    ]
    tags = [sorted(re.findall(r"</?\w+>", t)) for t in (text, message)]
    avoided = [g["avoid"] for g in glossary if g["avoid"] and g["avoid"].lower() in message.lower()]
    problems = []
    problems += [f"arguments {arguments}"] if arguments[0] != arguments[1] else []
    problems += ["tags"] if tags[0] != tags[1] else []
    problems += ["braces"] if message.count("{") != message.count("}") else []
    problems += ["too long"] if len(message) > limits.get(key, 10_000) else []
    problems += [f"avoid {avoided}"] if avoided else []
    problems += ["the product's name"] if "Marquee" in text and "Marquee" not in message else []
    if problems:
        raise SystemExit(f"{key}: {problems}: {message}")
(target / "translation.json").write_text(json.dumps(finished, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
