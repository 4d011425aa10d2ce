"""Tasks of the exam suite in business, finance and law."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from .engineering import write_csv
from .exam_task import Criterion, ExamTask, Settings


def loan(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a workbook that holds a loan's inputs."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    sheet = book.create_sheet("Inputs")
    for line in (
        ["Input", "Value"], ["Principal", settings["_principal"]], ["Nominal annual rate", settings["_rate"]],
        ["Term in months", settings["_months"]], ["Monthly overpayment", settings["_extra"]],
        ["First month of overpayment", settings["_from"]],
    ):  # fmt: skip
        sheet.append(line)
    book.properties.created = book.properties.modified = datetime(2026, 11, 1)
    book.save(folder / "template.xlsx")


LOAN = ExamTask(
    id="loan-model",
    title="A loan with overpayments as a living workbook",
    category="business_finance/accounting",
    occupation="13-2072",
    tier="medium",
    family="workbooks",
    hours=(1.5, 3),
    deliverables={"model.xlsx": ("xlsx", "the template with schedule and summary, all in formulas")},
    brief="""
## Work description

An adviser shows clients what overpaying a loan saves. Build the model in the template's workbook, so that changing an input changes every
result. It will be opened in LibreOffice with other inputs (terms up to 240 months).

- Keep the sheet `Inputs` as it is: B2 principal, B3 nominal annual rate, B4 term in months, B5 monthly overpayment, B6 first month of
  overpayment.
- Each month, interest is the opening balance times a twelfth of the annual rate. The payment is the level annuity of the whole term, at
  most what is owed (opening balance plus interest). From the month in B6 on, the overpayment follows, at most what is then still owed. Months
  count from 1. No rounding.
- A sheet `Summary` with formulas in B2 (level monthly payment), B3 (total interest paid), B4 (months with an opening balance above half a
  cent) and B5 (balance after 12 months), and labels of your choice in column A.

## Provided material

- `template.xlsx`

## Deliverables

- `model.xlsx`: `Summary!B2` to `Summary!B5` right to 0.01 after recalculation, also with other inputs. A number typed in place of a formula in
  one of these cells makes the work worthless.
""",
    criteria=(
        Criterion("payment", "The level payment is right for every set of inputs.", 1),
        Criterion("results", "Interest, months and balance are right for every set of inputs.", 3),
        Criterion("living", "The four results are formulas.", 1, gate=True),
    ),
    grade='''
"""Loan: LibreOffice computes the workbook with the given and with other inputs; typed numbers make it 0."""

from worksample.kit import Case, Check, Grade, weighted, workbook_model

PLACES = [f"Summary!B{row}" for row in (2, 3, 4, 5)]
OTHER = {"Inputs!B2": 81_000, "Inputs!B3": 0.0415, "Inputs!B4": 96, "Inputs!B5": 75, "Inputs!B6": 5}


def grade(case: Case) -> Grade:
    found: dict[str, Check] = {}

    def model(*places: str) -> Check:
        name = places[0]
        if name not in found:
            cells = dict.fromkeys(places, 0.01)
            found[name] = workbook_model(case, "model.xlsx", cells, scenarios=({}, OTHER), formulas=PLACES)
        return found[name]

    def living() -> Check:
        check = model(*PLACES)
        return Check.of(not check.reason.startswith("no formula"), check.reason)

    def of(places: list[str]) -> Check:
        check = model(*PLACES)
        if check.reason.startswith("no formula"):
            return check
        return Check(1 - sum(place in check.reason for place in places) / len(places), check.reason)

    return weighted(case, payment=lambda: of(PLACES[:1]), results=lambda: of(PLACES[1:]), living=living)
''',
    instances={
        "car": {"_principal": 24500, "_rate": 0.059, "_months": 60, "_extra": 120, "_from": 7},
        "flat": {"_principal": 185000, "_rate": 0.0365, "_months": 240, "_extra": 300, "_from": 13},
    },
    make=loan,
    slips={
        "typed-in": "Types numbers in place of formulas.",
        "effective-rate": "Takes the nominal for an effective rate.",
        "no-overpayment": "Leaves out the overpayments.",
    },
    half=("no-overpayment",),
    filler={"model.xlsx": "PK"},
    software=("python3",),
    timeout=400,
    notes="Needs LibreOffice on the machine that grades (libreoffice-calc); without it the work is ungraded.",
)


def triangle(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write single payments of claims by accident and payment year."""
    pattern = [0.34, 0.27, 0.16, 0.1, 0.06, 0.04, 0.03]
    last = settings["_last"]
    rows = []
    for year in range(last - 6, last + 1):
        volume = rng.uniform(2.0e6, 3.4e6)
        for age, share in enumerate(pattern[: last - year + 1]):
            total = volume * share * rng.uniform(0.85, 1.15)
            cuts = sorted(rng.random() for _ in range(2))
            for part in (cuts[0], cuts[1] - cuts[0], 1 - cuts[1]):
                rows.append({"claim": f"C{rng.randrange(10**6):06d}", "accident_year": year, "payment_year": year + age,
                             "kind": "payment", "amount": f"{total * part:.2f}"})  # fmt: skip
            if rng.random() < 0.5:
                rows.append({"claim": f"C{rng.randrange(10**6):06d}", "accident_year": year, "payment_year": year + age,
                             "kind": "salvage", "amount": f"{total * 0.06:.2f}"})  # fmt: skip
    rng.shuffle(rows)
    write_csv(folder / "payments.csv", rows)
    (folder / "settings.json").write_text(json.dumps({"tail_factor": settings["_tail"]}), encoding="utf-8")


LADDER = ExamTask(
    id="chain-ladder",
    title="Claims reserves by the chain ladder",
    category="business_finance/actuarial_risk",
    occupation="15-2011",
    tier="medium",
    family="values",
    hours=(1.5, 3),
    deliverables={"reserves.json": ("json", "factors, ultimates and reserves")},
    brief="""
## Work description

Compute the reserves of a motor portfolio at the end of its last accident year from the list of payments.

- Salvage is money that came back: subtract it.
- Cumulate net payments by accident year and age (payment year minus accident year).
- Development factors from age k to k + 1: sum of the cumulated payments at k + 1 divided by the sum at k, over all accident years known at
  k + 1 (volume-weighted, all years).
- Ultimate: the last known cumulated payment times the remaining factors and the tail factor of `settings.json`, which holds for every year,
  the oldest included. Reserve: ultimate minus last known cumulated payment.

## Provided material

- `payments.csv`, `settings.json`

## Deliverables

- `reserves.json`: `{"factors": [f0, f1, ...], "years": {"2020": {"ultimate": ..., "reserve": ...}, ...}, "total_reserve": ...}`; factors to
  0.0001, money to 1.00, nothing else in it
""",
    criteria=(
        Criterion("factors", "The development factors are right.", 2),
        Criterion("reserves", "Ultimates and reserves of each year are right.", 3),
        Criterion("total", "The total reserve is right.", 1),
    ),
    grade='''
"""Reserves: factors to 0.0001, money to one unit."""

from worksample.kit import Case, Check, Grade, ValueRules, close, weighted
from worksample.kit.comparisons.values import compare_values


def grade(case: Case) -> Grade:
    want = case.ref_json("reserves.json")
    like = {"factors": [float], "years": dict, "total_reserve": float}

    def part(name: str, rules: ValueRules) -> Check:
        return compare_values(case.json("reserves.json", like=like)[name], want[name], rules)

    def total() -> Check:
        got = case.json("reserves.json", like=like)["total_reserve"]
        return Check.of(close(got, want["total_reserve"], 1.0), f"the total is {got}")

    return weighted(
        case,
        factors=lambda: part("factors", ValueRules(tolerance=1e-4)),
        reserves=lambda: part("years", ValueRules(tolerance=1.0)),
        total=total,
    )
''',
    instances={"motor": {"_last": 2025, "_tail": 1.012}, "liability": {"_last": 2024, "_tail": 1.03}},
    make=triangle,
    slips={
        "adds-salvage": "Adds salvage to the payments.",
        "simple-average": "Averages the years' factors without weights.",
        "no-tail": "Forgets the tail factor.",
    },
    half=("no-tail",),
    filler={"reserves.json": '{"factors": [1, 1, 1, 1, 1, 1], "years": {}, "total_reserve": 0}'},
)

CLAIMS = [
    ("start", "Claimant", "Claim received", "2", ""), ("person", "Clerk", "Check documents", "3=complete;4=incomplete", "Documents complete?"),
    ("system", "System", "Look up policy", "5=covered;9=not covered", "Policy covers the damage?"), ("person", "Clerk", "Ask claimant for documents", "2", ""),
    ("person", "Assessor", "Estimate damage", "6=above limit;7=within limit", "Estimate above {limit}?"),
    ("person", "Manager", "Approve estimate", "7=approved;5=sent back", "Approved?"), ("system", "System", "Pay claim", "8", ""),
    ("end", "Claimant", "Claim paid", "", ""), ("person", "Clerk", "Write refusal", "10", ""), ("end", "Claimant", "Claim refused", "", ""),
]  # fmt: skip


def interview(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write an interview's table of steps."""
    rows = [
        {"step": i + 1, "kind": kind, "role": role, "action": f"{action}{settings['_suffix'] if kind != 'end' else ''}",
         "question": question.format(limit=settings["_limit"]), "next": following}
        for i, (kind, role, action, following, question) in enumerate(CLAIMS)
    ]  # fmt: skip
    write_csv(folder / "steps.csv", rows)


PROCESS = ExamTask(
    id="claims-bpmn",
    title="The claims process as BPMN",
    category="business_finance/hr_pm",
    occupation="13-1111",
    tier="medium",
    family="documents",
    hours=(1, 2),
    deliverables={"process.bpmn": ("xml", "the process in BPMN 2.0")},
    brief="""
## Work description

The insurer's claims process was taken down in a table. Draw it up as BPMN 2.0 (the semantic part; no diagram is needed).

- One node for each row, named by its `action`: `start` and `end` are a startEvent and endEvents, `person` is a userTask, `system` a serviceTask.
- A row with a `question` is followed by an exclusiveGateway, named by the question, in the same lane; an unnamed flow leads to it from the row's
  node, and its flows are named by the answers in `next`.
- `next` lists the following steps, as `step` or `step=answer`, separated by semicolons.
- One lane for each `role`, named by it; every node is in one.
- Nothing else: no merging gateways, messages, data or texts.

## Provided material

- `steps.csv`

## Deliverables

- `process.bpmn`: one process in `definitions` of the BPMN 2.0 namespace; ids are up to you
""",
    criteria=(Criterion("process", "Nodes with their lanes and flows with their answers are right.", 1),),
    grade='''
"""Process: nodes by kind, name and lane; flows by their ends and names. Nodes without any flow earn nothing."""

from worksample.kit import Case, Grade, bpmn, weighted


def grade(case: Case) -> Grade:
    return weighted(case, process=lambda: bpmn(case.output("process.bpmn"), case.reference("process.bpmn")))
''',
    instances={
        "motor": {"_limit": "5,000 EUR", "_suffix": ""},
        "household": {"_limit": "2,500 EUR", "_suffix": " (household)"},
    },
    make=interview,
    slips={
        "no-gateways": "Draws decisions as several flows from a task.",
        "forgets-loops": "Forgets the ways back.",
        "no-answers": "Does not name the answers.",
    },
    half=("no-gateways",),
    filler={
        "process.bpmn": '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p"/></definitions>'
    },
)


def mailbox(rng: random.Random, folder: Path, settings: Settings) -> None:
    """Write a mailbox of mails with and without counsel."""
    inside = ["m.adler@heliod.example", "t.osei@heliod.example", "r.lund@heliod-parts.example"]
    counsel = ["k.brandt@brandt-law.example", "legal@heliod.example"]
    outside = ["sales@tornado.example", "buyer@quill.example"]
    advice = ["Please give us legal advice on the supply contract.", "In my opinion as counsel the clause is void.",
              "This is privileged: our exposure in litigation is high."]  # fmt: skip
    plain = [
        "Lunch at noon in the canteen?",
        "The delivery arrived and two boxes were dented.",
        "Minutes of the meeting attached.",
    ]
    mails: list[dict[str, Any]] = []
    begun = datetime(2025, 3, 3, 8, 0, tzinfo=UTC)
    for number in range(settings["_mails"]):
        people = rng.sample(inside, 2)
        with_counsel = rng.random() < 0.6
        where = rng.choice(["To", "Cc", "Cc"])
        mail: dict[str, Any] = {"From": people[0], "To": [people[1]], "Cc": []}
        if with_counsel and rng.random() < 0.4:
            mail["From"] = rng.choice(counsel)
        elif with_counsel:
            mail[where].append(rng.choice(counsel))
        if rng.random() < 0.25:
            mail["Cc"].append(rng.choice(outside))
        mail |= {"body": rng.choice(advice if rng.random() < 0.65 else plain), "id": f"<{number}.{rng.randrange(10**8)}@heliod.example>",
                 "date": begun + timedelta(hours=rng.randrange(6000), minutes=rng.randrange(60))}  # fmt: skip
        mails.append(mail)
    mails += [dict(one, id=one["id"].upper()) for one in rng.sample(mails, max(3, len(mails) // 8))]
    rng.shuffle(mails)
    for number, mail in enumerate(mails):
        out = EmailMessage()
        out["From"], out["To"] = mail["From"], ", ".join(mail["To"])
        if mail["Cc"]:
            out["Cc"] = ", ".join(mail["Cc"])
        out["Date"], out["Message-ID"], out["Subject"] = format_datetime(mail["date"]), mail["id"], "Re: supply"
        out.set_content(mail["body"] + "\n")
        (folder / f"mail-{number + 1:03d}.eml").write_bytes(bytes(out))
    told = {"prefix": settings["_prefix"], "first_number": 1, "counsel": counsel,
            "company_domains": ["heliod.example", "heliod-parts.example"],
            "advice_words": ["legal advice", "counsel", "privileged", "litigation"]}  # fmt: skip
    (folder / "protocol.json").write_text(json.dumps(told, indent=1), encoding="utf-8")


PRIVILEGE = ExamTask(
    id="privilege-log",
    title="Privilege log of a mailbox",
    category="legal/litigation",
    occupation="23-2011",
    tier="easy",
    family="tables",
    hours=(2, 4),
    deliverables={"log.csv": ("csv", "one row per withheld mail")},
    brief="""
## Work description

Opposing counsel gets the mailbox; privileged mails are withheld and logged. Write the log by the agreed protocol.

1. Mails with the same Message-ID (capitals do not matter) are one mail; the file whose name comes first stands for it.
2. Number the remaining mails by date and time (by file name if equal), beginning at `first_number`: `prefix` and six digits. All mails get a
   number, withheld or not.
3. A mail is withheld if all of this holds: its sender or one of its recipients (To, Cc, Bcc) is in `counsel`; everybody else in it has an
   address in one of `company_domains` (an outsider waives the privilege); and its text has one of `advice_words` as whole words, in capitals or not.

## Provided material

- `mail-NNN.eml`, `protocol.json`

## Deliverables

- `log.csv`: `bates`, `date` (YYYY-MM-DD, in the mail's own time zone), `from`, `recipients` (addresses of To, Cc and Bcc in lower case, sorted,
  separated by semicolons), `file`; withheld mails only, no others
""",
    criteria=(
        Criterion("withheld", "Exactly the privileged mails are withheld.", 3),
        Criterion("rows", "Their numbers, dates and people are right.", 2),
        Criterion("complete", "No privileged mail is given away and none is withheld without reason.", 1),
    ),
    grade='''
"""Privilege log: which mails, then what is said of them. A log that withholds every mail earns nothing."""

from worksample.kit import Case, Check, Grade, tabular, weighted
from worksample.kit.comparisons.bands import above_floor


def grade(case: Case) -> Grade:
    want = case.ref_rows("log.csv")
    mails = sum(1 for _ in case.folder("input").glob("mail-*.eml"))

    def withheld() -> Check:
        check = tabular(case.rows("log.csv"), want, keys=["file"], columns=())
        return above_floor(check, len(want) / mails)

    return weighted(
        case,
        withheld=withheld,
        rows=lambda: tabular(case.rows("log.csv"), want, keys=["file"], columns=["bates", "date", "from", "recipients"]),
        complete=lambda: tabular(case.rows("log.csv"), want, keys=["file"], columns=(), partial=False),
    )
''',
    instances={"supply": {"_mails": 44, "_prefix": "HEL"}, "recall": {"_mails": 60, "_prefix": "HELR-"}},
    make=mailbox,
    slips={
        "ignores-waiver": "Withholds mails that outsiders got.",
        "keeps-duplicates": "Numbers copies of a mail again.",
        "ignores-copies": "Looks at To alone.",
    },
    half=("ignores-waiver",),
    filler={"log.csv": "bates,date,from,recipients,file\nX,2020-01-01,a,b,none.eml\n"},
)

TASKS = (LOAN, LADDER, PROCESS, PRIVILEGE)
