"""Right and wrong work at the port's tasks: files in the agent's folder and on ownCloud, messages in Rocket.Chat."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from formats.tac_port_files import charts, docx, form, odt, sheet, slides
from formats.tac_workspace_states import Files, State, states, table
from worksample.formats.tac.published_task import find_source

PAGES = "http://owncloud/index.php/apps/files/?dir=/Documents/"
HR, FINANCE = "Documents/Human Resources Team", "Documents/Financials"


@dataclass(frozen=True)
class Work:
    """An agent's work at a task. `shared`: a document whose link it writes into link.txt."""

    task: str
    name: str
    files: Files = field(default_factory=dict)
    cloud: Files = field(default_factory=dict)
    urls: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    shared: str = ""
    channels: tuple[tuple[str, str, str], ...] = ()
    """Channels that it creates: (name, invited person, message)."""
    program: str = ""
    """Further Python code that it runs."""
    share: float | None = None
    """Share of the points that the checkpoints give for it; None if they give all or none."""


def task_folder(task: str) -> Path:
    """Return the folder of a task."""
    return find_source()[0] / task


def works() -> list[Work]:
    """Return all work: for each task a right and a wrong one."""
    return [
        *_work_of_states(),
        *_judged(),
        *_administration(),
        *_numbers(),
        *_finance(),
        *_people(),
        *_ungradable_work(),
    ]


def _work_of_states() -> list[Work]:
    """Return work that only leaves files: for each task the first right state, and the first other one."""
    found: dict[str, dict[str, State]] = {}
    for state in states(_utils):
        kind = "right" if state.score == 1.0 else "wrong"
        found.setdefault(state.task, {}).setdefault(kind, state)
    return [
        Work(task, name, one.workspace, urls=(one.said,) if one.said else ())
        for task, both in found.items()
        for name, one in both.items()
    ]


def _utils(task: str) -> Path:
    inside = task_folder(task) / "eval_data"
    return inside if inside.is_dir() else task_folder(task)


def _judged() -> list[Work]:
    numbers, paper = "ds_answer_numerical_data_question", "research_answer_questions_on_paper"
    pictures = "ds_visualize_data_in_pie_and_bar_chart"
    right = ["Tea (including ice tea)", "88.475", "74.775"]
    answers = (task_folder(paper) / "eval_data/answers.txt").read_text().splitlines()
    known = [line.strip() for line in answers if line.strip()]
    return [
        Work(numbers, "right", {"answer.docx": docx(right)}),
        Work(numbers, "wrong", {"answer.docx": docx(["Milk", "1", "2"])}),
        Work(paper, "right", sheet(known)),
        Work(paper, "wrong", sheet([*known[:-3], *["I do not know"] * 3])),
        Work(pictures, "right", charts("red")),
        Work(pictures, "wrong", charts("blue")),
    ]


def _administration() -> list[Work]:
    task, page = "admin_check_employees_budget_and_reply", (PAGES + "Administrative%20Specialist",)
    ask = "What equipment does your department need?"
    costs = {"jessica_lee": 11917, "huang_jie": 5001, "chen_xinyi": 18780}
    told = [(who, text) for who, cost in costs.items() for text in (ask, f"In total {cost} dollars.")]
    forms = "admin_mass_forms_filling"
    rows = list(csv.DictReader((task_folder(forms) / "personnel_data_golden.csv").read_text().splitlines()))
    filled = {f"Documents/Admin/i_9_forms/{_form_name(row)}": form(_i9(row)) for row in rows}
    return [
        Work(task, "right", urls=page, told=tuple(told)),
        Work(task, "wrong", urls=page, told=tuple((who, ask) for who in costs)),
        Work(forms, "right", cloud=filled),
        Work(forms, "wrong", cloud=dict(list(filled.items())[:2])),
    ]


def _form_name(row: Mapping[str, str]) -> str:
    return f"i-9_{row['First Name (Given Name)']}_{row['Last Name (Family Name)']}.pdf"


def _i9(row: Mapping[str, str]) -> dict[str, str]:
    """Return the form's fields by the form's own names."""
    status, number = row["Citizenship/Immigration Status"], row["USCIS A-Number"]
    kinds = ["A citizen of the United States", "A noncitizen national of the United States",
             "A lawful permanent resident", "A noncitizen authorized to work"]  # fmt: skip
    passport = (
        f"{row['Foreign Passport Number']} {row['Country of Issuance']}" if row["Foreign Passport Number"] else ""
    )
    return {
        "Last Name (Family Name)": row["Last Name (Family Name)"],
        "First Name Given Name": row["First Name (Given Name)"],
        "Employee Middle Initial (if any)": row["Middle Initial (if any)"],
        "Employee Other Last Names Used (if any)": row["Other Last Names Used (if any)"],
        "Address Street Number and Name": row["Address (Street Number and Name)"],
        "Apt Number (if any)": row["Apt. Number (if any)"],
        "City or Town": row["City or Town"],
        "ZIP Code": row["ZIP Code"],
        "Date of Birth mmddyyyy": row["Date of Birth (mm/dd/yyyy)"],
        "US Social Security Number": row["U.S. Social Security Number"],
        "Employees E-mail Address": row["Employee's Email Address"],
        "Telephone Number": row["Employee's Telephone Number"],
        "3 A lawful permanent resident Enter USCIS or ANumber": number,
        "Exp Date mmddyyyy": row["Expiration Date (mm/dd/yyyy)"],
        "USCIS ANumber": number if number and status == kinds[3] else "",
        "Form I94 Admission Number": row["Form I-94 Admission Number"],
        "Foreign Passport Number and Country of IssuanceRow1": passport,
        "Signature of Employee": row["Signature of Employee"],
        "Today's Date mmddyyy": row["Today's Date (mm/dd/yyyy)"],
        "State": row["State"],
        **{f"CB_{n}": "/On" if kind == status else "/Off" for n, kind in enumerate(kinds, 1)},
    }


def _numbers() -> list[Work]:
    closing, cells, deck = "ds_predictive_modeling", "ds_format_excel_sheets", "ds_stock_analysis_slides"
    answer = f"{FINANCE}/stock_test_answer.csv"
    golden = (task_folder(closing) / "golden_answer.csv").read_bytes()
    rows = golden.decode().splitlines()
    flat = "\n".join([rows[0], *(",".join("100" for _ in row.split(",")) for row in rows[1:])])
    talk = (
        "Good morning, dear board.\n" + "".join(f"Slide {n}: what we see.\n" for n in range(1, 6)) + "Thank you all.\n"
    )
    shown = f"{FINANCE}/stock_presentation"
    clean = (task_folder(deck) / "stock_data.csv").read_bytes()
    source = (task_folder(cells) / "respondent_counts.xlsx").read_bytes()
    return [
        Work(closing, "right", cloud={answer: golden}),
        Work(closing, "wrong", cloud={answer: flat.encode()}),
        Work(deck, "right", cloud={
            f"{shown}/stock_cleaned.csv": clean, f"{shown}/stock_analysis.pptx": slides("red"),
            f"{shown}/stock_analysis_script.md": talk.encode(),
        }),
        Work(deck, "wrong", cloud={
            f"{shown}/stock_cleaned.csv": clean[:5000], f"{shown}/stock_analysis.pptx": slides("blue"),
            f"{shown}/stock_analysis_script.md": b"Here are some slides.\n",
        }),
        Work(cells, "right", cloud={"Documents/Data Analysis/respondent_counts.xlsx": _formatted(source)}),
        Work(cells, "wrong", cloud={"Documents/Data Analysis/respondent_counts.xlsx": source}),
    ]  # fmt: skip


def _formatted(source: bytes) -> bytes:
    import openpyxl
    from openpyxl.styles import Alignment, PatternFill

    book = openpyxl.load_workbook(io.BytesIO(source))
    made = book.copy_worksheet(book["unformatted"])
    made.title = "formatted"
    for row in made.iter_rows():
        for cell in row:
            cell.alignment = Alignment(horizontal="center")
            if 3 <= cell.row <= 5 and cell.value is not None:
                cell.fill = PatternFill("solid", fgColor="FF87CEEB")
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _finance() -> list[Work]:
    from formats.tac_port_finance_answers import flagged_payments, flagged_variances, tax_credit

    variance, invoices = "finance_budget_variance", "finance_invoice_matching"
    income, credit = "finance_create_10k_income_report", "finance_apply_tax_credit"
    head: list[object] = ["Flagged_Variances"]
    two: list[object] = ["Payment_ID", "Issue"]
    flags = flagged_variances(task_folder(variance))
    issues = flagged_payments(task_folder(invoices))
    opened = (PAGES + "Financials/payments.xlsx&openfile=true", PAGES + "Financials/invoices_pdfs")
    reference = (task_folder(income) / "reference_net_income.csv").read_text()
    path = "The table is at /workspace/net_income_report.csv. We should invest in"
    asked = "Are we electing the reduced credit under section 280C? Had we research expenses in the prior 3 tax years?"
    tens = (PAGES + "Financials/Annual%20Reports/10Ks",)
    return [
        Work(variance, "right", cloud={f"{FINANCE}/flagged_variances.xlsx": table([head, *flags])},
             urls=(PAGES + "Financials",)),
        Work(variance, "wrong", cloud={f"{FINANCE}/flagged_variances.xlsx": table([head, *flags[1:]])}),
        Work(invoices, "right", cloud={f"{FINANCE}/flagged_payments.xlsx": table([two, *issues])},
             urls=opened),
        Work(invoices, "wrong", cloud={f"{FINANCE}/flagged_payments.xlsx": table([two, *issues[:-1]])}),
        Work(income, "right", {"net_income_report.csv": reference.encode()}, urls=tens,
             told=(("david_wong", f"{path} Meta Platforms, Inc."),)),
        Work(income, "wrong", {"net_income_report.csv": reference.replace("1", "2").encode()},
             told=(("david_wong", f"{path} another one."),)),
        Work(credit, "right", {"filled_f6765.pdf": form(tax_credit())}, told=(("david_wong", asked),)),
        Work(credit, "wrong", {"filled_f6765.pdf": form(dict.fromkeys(tax_credit(), "1"))}),
    ]  # fmt: skip


def _people() -> list[Work]:
    manual, card, job = "hr_create_employee_manual", "hr_green_card_consultation", "hr_new_grad_job_description"
    memo, chat = "hr_populate_salary_increase_memo", "hr_check_attendance_multiple_days_department_with_chat"
    words = ["company values", "code of conduct", "operational procedures", "employee benefits", "company policies"]
    asked = ("priya_sharma", "Is it NIW that you applied for?")
    placed = {name: (task_folder(job) / name).read_bytes() for name in ("template.md", "requirement.txt")}
    text = b"# New Grad Software Engineer\n\n## Requirements\n\n" + placed["requirement.txt"]
    notices = {f"{HR}/salary_increase_notice/{n}.odt": odt([f"Notice {n}"]) for n in range(10)}
    wanted = {"name", "email", "salary amount", "assignment start and end date"}
    hr, attendance = (PAGES + "Human%20Resources%20Team",), (PAGES + "Human%20Resources%20Team/Attendance",)
    of_departments = [s for s in states(_utils) if s.task == chat.removesuffix("_with_chat")]
    contacts = tuple((who, "Who is in which department?") for who in ("chen_xinyi", "david_wong", "mark_johnson"))
    return [
        Work(manual, "right", cloud={f"{HR}/Employee_Manual.odt": odt(words)}, urls=hr),
        Work(manual, "wrong", cloud={f"{HR}/Employee_Manual.odt": odt(["nothing"])}),
        Work(card, "right", urls=(hr[0] + "/Immigration",),
             told=(asked, ("priya_sharma", "The current date of filing is 01AUG23."))),
        Work(card, "wrong", told=(("priya_sharma", "The current date of filing is 01JAN20."),)),
        Work(job, "right", placed, {"Documents/job_description.md": text}, shared="Documents/job_description.md"),
        Work(job, "wrong", placed, {"Documents/job_description.md": b"[Insert Information]"},
             shared="Documents/job_description.md"),
        Work(memo, "right", cloud={f"{HR}/Salary_Increase_MEMO.odt": odt(sorted(wanted)), **notices}, urls=hr),
        Work(memo, "wrong", cloud=dict(list(notices.items())[:3])),
        Work(chat, "right", of_departments[0].workspace, urls=attendance, told=contacts),
        Work(chat, "wrong", of_departments[1].workspace, urls=attendance, told=contacts[:1]),
    ]  # fmt: skip


def _ungradable_work() -> list[Work]:
    """Return work at tasks that can never be graded here."""
    salary, cam, wave = "hr_salary_analysis", "ml_generate_gradcam", "sde_run_rising_wave_locally"
    report = {f"{HR}/Salary_Analysis_Report.odt": odt(["78300", "95000", "65000", "78000"])}
    return [
        *(Work(salary, name, cloud=report if name == "right" else {}) for name in ("right", "wrong")),
        *(Work(cam, name, {"gradcam_explanation.txt": b"The dog."}) for name in ("right", "wrong")),
        *(Work(wave, name) for name in ("right", "wrong")),
    ]
