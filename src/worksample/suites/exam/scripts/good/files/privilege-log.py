"""A privilege log of a mailbox."""

import csv
import email
import email.policy
import json
import re
import sys
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path

inputs, output, slips = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[3:])
rules = json.loads((inputs / "protocol.json").read_text())
lawyers, insiders = set(rules["counsel"]), set(rules["company_domains"])
seen, mails = set(), []
for path in sorted(inputs.glob("mail-*.eml")):
    mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    key = str(mail["Message-ID"]).strip().lower()
    if key in seen and "keeps-duplicates" not in slips:
        continue
    seen.add(key)
    mails.append((parsedate_to_datetime(mail["Date"]), path.name, mail))
mails.sort(key=lambda one: (one[0], one[1]))
rows, number = [], rules["first_number"]
for when, name, mail in mails:
    bates = f"{rules['prefix']}{number:06d}"
    number += 1
    sender = getaddresses([str(mail["From"])])[0][1].lower()
    fields = ("To",) if "ignores-copies" in slips else ("To", "Cc", "Bcc")
    others = [a.lower() for _, a in getaddresses([str(mail[f]) for f in fields if mail[f]])]
    people = {sender, *others}
    body = mail.get_content()
    if not people & lawyers:
        continue
    outside = [a for a in people if a not in lawyers and a.rpartition("@")[2] not in insiders]
    if outside and "ignores-waiver" not in slips:
        continue
    if not any(re.search(rf"\b{re.escape(word)}\b", body, re.I) for word in rules["advice_words"]):
        continue
    rows.append([bates, when.date().isoformat(), sender, ";".join(sorted(others)), name])
with (output / "log.csv").open("w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["bates", "date", "from", "recipients", "file"])
    out.writerows(rows)
