"""Right and wrong final states of a workspace, written by hand, for evaluators of files and conversations."""

from __future__ import annotations

import csv
import io
import json
import math
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import openpyxl
from pypdf import PdfWriter

ATTENDANCE_URL = "http://owncloud/index.php/apps/files/?dir=/Documents/Human%20Resources%20Team/Attendance"
Files = dict[str, bytes]


@dataclass(frozen=True)
class State:
    """Files below /workspace and /data when the agent ends, and the expected score."""

    task: str
    name: str
    score: float
    workspace: Files = field(default_factory=dict)
    data: Files = field(default_factory=dict)
    said: str | None = ""
    """A link that the agent opened, as in its trajectory; None for a state without a trajectory."""


def table(rows: list[list[object]], sheets: list[list[list[object]]] | None = None) -> bytes:
    """Return a workbook with one sheet, or several."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, content in enumerate(sheets or [rows]):
        sheet = book.create_sheet(f"Sheet{number + 1}")
        for row in content:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def text_table(rows: list[list[object]]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def database(script: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        connection = sqlite3.connect(path)
        connection.executescript(script)
        connection.close()
        return path.read_bytes()


def states(utils: Callable[[str], Path]) -> list[State]:
    """Return all states. utils: returns the folder of a task with the files that its image puts into /utils or
    /workspace.
    """
    return [
        *_answers(),
        *_folders(),
        *_tables(utils),
        *_databases(utils),
        *_attendance(utils),
        *_conversation_states(utils),
    ]


def _answers() -> list[State]:
    link = b"http://owncloud/index.php/apps/files/?dir=/Documents/Data%20Analysis&fileid=38\n"
    sheet = "Seed Area Estimates.xlsx"
    quote = b'It is not qualified: "Credit card statements not accepted as receipts".'
    right = {
        "task1.txt": b"20\n",
        "task2.txt": b"3\n",
        "task3.txt": b'"Gaming Laptop G1", 1799.99\n"Professional Laptop T1", 1299.99\n"Tablet Pro T1", 899.99\n',
    }
    as_shown = right["task3.txt"].replace(b"99\n", b"99,\n")
    return [
        State("admin_translate_sales_chat", "right", 1.0, {"ans.txt": b"145095\n"}),
        State("admin_translate_sales_chat", "near", 0.5, {"ans.txt": b"155000\n"}),
        State("admin_translate_sales_chat", "wrong", 0.0, {"ans.txt": b"12091\n"}),
        State("admin_watch_video", "right", 1.0, {"ans.txt": b"4"}),
        State("admin_watch_video", "wrong", 0.0, {"ans.txt": b"5"}),
        State("ds_find_meeting_spreadsheet", "right", 1.0, {"link.txt": link, sheet: table([["a"]])}),
        State("ds_find_meeting_spreadsheet", "another link", 0.5, {"link.txt": b"http://owncloud", sheet: b"no sheet"}),
        State("ds_sql_exercise", "right", 1.0, right),
        State("ds_sql_exercise", "as the prompt's own example is written", 0.5, right | {"task3.txt": as_shown}),
        State("ds_sql_exercise", "nothing", 0.0),
        State("finance_nonqualified_bill_ask_for_reimburse", "right", 1.0, {"reimburse.txt": quote}),
        State("finance_nonqualified_bill_ask_for_reimburse", "wrong", 0.0, {"reimburse.txt": b"$85.6"}),
    ]


def _folders() -> list[State]:
    def sorted_resumes(senior: str) -> Files:
        early = {f"early-career/{n}.pdf": b"%PDF" for n in range(58)}
        unsure = {f"unsure/{n}.pdf": b"%PDF" for n in range(94 - 60)}
        return {**early, **unsure, "mid-level/Alex_Chen.pdf": b"%PDF", f"senior/{senior}.pdf": b"%PDF"}

    base = "AgentCompany_ML_Quiz_Attempt"
    graded = ["1_1", "2_15-submit", "3_9", "4_12", "5_11", "6_10"]
    other = ["1_1", "2_15", "3_9", "4_12-submit", "5_11", "6_10"]
    return [
        State("hr_resume_categorization", "right", 1.0, sorted_resumes("Emily_Zhang")),
        State("hr_resume_categorization", "another senior", 0.75, sorted_resumes("Alex_Doe")),
        State("ml_grade_exam", "right", 1.0, {f"{base}{n}.pdf": b"%PDF" for n in graded}),
        State("ml_grade_exam", "another one submitted", 7 / 8, {f"{base}{n}.pdf": b"%PDF" for n in other}),
    ]


def _tables(utils: Callable[[str], Path]) -> list[State]:
    drinks = [["apple juice", 4], ["vita coco", 2], ["talking rain", 3], ["milk", 1]]
    rest = [[name, 1] for name in ("water", "tea", "coffee", "coke", "sprite")]
    head: list[object] = ["drink", "quantity"]
    eight = [["apple juice", 3], ["talking rain", 3], ["milk", 1], *rest]
    short = (utils("admin_remove_pages_pdf") / "expected_openhands_short.pdf").read_bytes()
    blank, out = PdfWriter(), io.BytesIO()
    for _ in range(17):
        blank.add_blank_page(595, 842)
    blank.write(out)
    name, pdf = "admin_make_spreadsheet", "admin_remove_pages_pdf"
    return [
        State(name, "right", 1.0, {"drinks_survey.csv": text_table([head, *drinks, *rest])}),
        State(name, "eight drinks", 1 / 5, {"drinks_survey.csv": text_table([head, *eight])}),
        State(name, "nothing", 0.0),
        State(pdf, "right", 1.0, {"openhands_short.pdf": short}),
        State(pdf, "17 blank pages", 0.5, {"openhands_short.pdf": out.getvalue()}),
        *_areas(utils),
        *_evaluations(),
    ]


def _areas(utils: Callable[[str], Path]) -> list[State]:
    task, name = "ds_fix_table_values_and_missing_answers", "corrected_other_corp_area_totals.xlsx"
    given = (utils(task) / "ref_data.xlsx").read_bytes()

    def filled(first: float, second: float, missing: object) -> bytes:
        book = openpyxl.load_workbook(io.BytesIO(given))
        sheet = book.worksheets[0]
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value == "x":
                    cell.value = missing  # type: ignore[assignment]
        sheet.cell(24, 2).value, sheet.cell(92, 2).value = first, second  # type: ignore[union-attr]
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()

    placed = {"ref_data.xlsx": given}
    return [
        State(task, "right", 1.0, {**placed, name: filled(2809, 0.988, 0)}),
        State(task, "missing values left, second answer wrong", 1 / 3, {**placed, name: filled(2809, 0.5, "x")}),
        State(task, "right, but the agent tidied the given file away", 0.0, {name: filled(2809, 0.988, 0)}),
    ]


def _evaluations() -> list[State]:
    task, six = "sde_copy_table_from_pdf_to_xlsx", ["Agent", "Model", "A", "B", "C", "D"]
    sheets: list[list[list[object]]] = [
        [
            [*six],
            ["Lemur", "Lemur-chat-70b", None, 5.3, None, None],
            ["CodeActAgent v1.8", "claude-3-5-sonnet", 26.0, 15.3, 52.0, None],
        ],
        [
            ["Agent", "Model", "Rate", "Cost"],
            ["SWE-agent, 1-shot", "gpt-4-turbo", 87.7, None],
            ["OH CodeActAgent v1.5", "gpt-3.5-turbo-16k-0613", 20.1, 0.11],
        ],
        [["Agent", "Model", "Rate", "Cost"], ["WebArena Agent", "Llama3-chat-70b", 7.0, None]],
        [["Agent", "Model", "Rate", "Cost"], ["OH CodeActAgent v1.5", "gpt-3.5-turbo-0125", 11.8, 0.006]],
    ]
    link = {"link.txt": b"http://owncloud/index.php/s/abc"}
    return [
        State(task, "right", 1.0, {**link, "openhands_evaluation.xlsx": table([], sheets)}),
        State(task, "the last table missing", 0.8, {**link, "openhands_evaluation.xlsx": table([], sheets[:3])}),
    ]


def _databases(utils: Callable[[str], Path]) -> list[State]:
    return [*_coffee(utils("ds_coffee_shop_database_management")), *_finances()]


def _coffee(given: Path) -> list[State]:
    """Return one state as the prompt asks, and one as the evaluator expects, which also wants two answers as tables."""
    task = "ds_coffee_shop_database_management"
    asked = ["customers", "products", "inventory", "orders", "order_items"]
    files = {f"{n}.csv": (given / f"{n}.csv").read_bytes() for n in asked}
    analysis = b"Q1: P001, P003, P005\nQ2: P001, P002, P004\nQ3: Sarah Johnson, Emma Brown\n"
    short = """CREATE VIEW v_short_stock AS SELECT product_id, quantity_in_stock, reorder_point FROM inventory
               WHERE quantity_in_stock <= reorder_point;"""
    sales = _statements("sales", given / "average_sales.csv") + "CREATE VIEW v_sales AS SELECT * FROM sales;"
    tables = "".join(_statements(n, given / f"{n}.csv") for n in asked)
    more = "".join(_statements(n, given / f"{n}.csv") for n in ("average_sales", "short_stock"))
    done = {**files, "analysis.txt": analysis}
    return [
        State(task, "right", 1.0, done, {"coffee_shop.db": database(tables + more + short + sales)}),
        State(task, "as the prompt asks", 0.8, done, {"coffee_shop.db": database(tables + short + sales)}),
        State(task, "tables only", 0.0, {}, {"coffee_shop.db": database(tables)}),
    ]


def _statements(name: str, source: Path) -> str:
    rows = list(csv.reader(source.read_text().splitlines()))
    kinds = [_kind([row[i] for row in rows[1:]]) for i in range(len(rows[0]))]
    lines = [f"CREATE TABLE {name} ({', '.join(f'{c} {k}' for c, k in zip(rows[0], kinds, strict=True))});"]
    for row in rows[1:]:
        values = ", ".join("'" + value.replace("'", "''") + "'" for value in row)
        lines.append(f"INSERT INTO {name} VALUES ({values});")
    return "\n".join(lines)


def _kind(values: list[str]) -> str:
    if all(v.lstrip("-").isdigit() for v in values):
        return "INTEGER"
    return "REAL" if all(v.replace(".", "", 1).lstrip("-").isdigit() for v in values) else "TEXT"


def _finances() -> list[State]:
    def report(worst: str) -> bytes:
        return database(f"""
            CREATE TABLE financial_categories (category_id INTEGER, category_name TEXT, category_type TEXT);
            CREATE TABLE financial_details (detail_id INTEGER, category_id INTEGER, month TEXT, actual REAL,
                                            budget REAL, variance REAL, percent_of_budget REAL);
            INSERT INTO financial_categories VALUES (1, 'Software Development Services', 'Income'),
                (2, 'Consulting', 'Income'), (3, 'Total Income', 'Income');
            INSERT INTO financial_details VALUES (1, 1, '2024-07', 75000, 80000, -5000, 0.9),
                (2, 2, '2024-07', 20000, 25000, -5000, 0.8), (3, 3, '2024-07', 95000, 105000, -10000, 0.9),
                (4, 3, '{worst}', 70000, 105000, -35000, 0.67);""")

    ods = {"July-September 2024 Financials.ods": b"PK"}
    task = "sde_create_sqlite_database"
    return [
        State(task, "right", 1.0, {**ods, "financial_report.db": report("2024-08")}),
        State(task, "another month, source not kept", 0.75, {"financial_report.db": report("2024-09")}),
        State(task, "nothing", 1 / 8),
    ]


def clock(path: Path) -> dict[str, list[tuple[float, str, str]]]:
    """Return name -> (hours, arrival, departure) of each day."""
    found: dict[str, list[tuple[float, str, str]]] = {}
    for row in list(csv.reader(path.read_text().splitlines()))[1:]:
        name, _, begun, ended = (cell.strip() for cell in row)
        span = datetime.strptime(ended, "%H:%M") - datetime.strptime(begun, "%H:%M")
        found.setdefault(name, []).append((span.total_seconds() / 3600, begun, ended))
    return found


def _figures(days: list[tuple[float, str, str]]) -> list[float]:
    """Return the average hours, the departures between 17:30 and 18:00, and the arrivals after 9:00."""
    on_time = sum("17:30" < ended < "18:00" for _, _, ended in days)
    return [sum(h for h, _, _ in days) / len(days), on_time, sum(begun > "09:00" for _, begun, _ in days)]


def _attendance(utils: Callable[[str], Path]) -> list[State]:
    task = "hr_check_attendance_multiple_days_department"
    people = {n: _figures(d) for n, d in clock(utils(task) / "april-attendance-data.csv").items()}
    rows: list[list[object]] = []
    for line in (utils(task) / "department.txt").read_text().splitlines():
        if ":" in line:
            names = [people[n.strip()] for n in line.split(":", 1)[1].split(",") if n.strip() in people]
            means = [sum(column) / len(names) for column in zip(*names, strict=True)]
            rows.append([line.split(":")[0].replace("•", "").strip(), *means])
    figures = ["Average Work Length", "Average On-time Departure Count", "Average Late Arrival Count"]
    head: list[object] = ["Department", *(f"Department {f}" for f in figures)]
    prompt: list[object] = [
        "Name",
        *(str(h).replace("Department Average On", "Departmetn Average On") for h in head[1:]),
    ]
    off = [[row[0], float(str(row[1])) + 1, *row[2:]] for row in rows]
    name = "department-april-attendance.xlsx"
    return [
        State(task, "right", 1.0, {name: table([head, *rows])}),
        State(task, "hours off", 1 / 3, {name: table([head, *off])}),
        State(task, "columns as the prompt names them", 0.0, {name: table([prompt, *rows])}),
    ]


def _conversation_states(utils: Callable[[str], Path]) -> list[State]:
    """Return states for evaluators that also read the conversation."""
    return [*_payroll(utils), *_perfect(utils), *_several_days(utils), *_expenses(utils), *_talent()]


def _payroll(utils: Callable[[str], Path]) -> list[State]:
    task = "finance_check_attendance_payroll"
    rates = dict(line.split(":") for line in (utils(task) / "rates_info.txt").read_text().splitlines() if ":" in line)
    hours = {
        n: math.ceil(sum(d[0] for d in days)) for n, days in clock(utils(task) / "april-attendance-data.csv").items()
    }
    rows: list[list[object]] = [["Name", "Total Earnings"], *([n, hours[n] * float(rates[n])] for n in hours)]
    return [
        State(task, "right", 1.0, {"april-payroll.csv": text_table(rows)}),
        State(task, "first employee missing", 1 / 3, {"april-payroll.csv": text_table([rows[0], *rows[2:]])}),
        State(task, "right, as the prompt names it", 0.0, {"april-payroll.xlsx": table(rows)}),
    ]


def _perfect(utils: Callable[[str], Path]) -> list[State]:
    task, name = "hr_check_attendance_one_day", "2024-03-attendance-summary.xlsx"
    days = clock(utils(task) / "attendance-2024-03-01.csv")
    there: list[list[object]] = [["Name"], *([n] for n, d in days.items() if "17:30" <= d[0][2] <= "18:00")]
    return [
        State(task, "right", 1.0, {name: table(there)}, said=ATTENDANCE_URL),
        State(task, "right, without the folder opened", 2 / 3, {name: table(there)}),
        State(task, "nobody", 1 / 3, {name: table(there[:1])}),
    ]


def _several_days(utils: Callable[[str], Path]) -> list[State]:
    task, name = "hr_check_attendance_multiple_days", "april-attendance.xlsx"
    head: list[object] = ["Name", "Average Work Length", "On-time Departure Count", "Late Arrival Count"]
    rows: list[list[object]] = [[n, *_figures(d)] for n, d in clock(utils(task) / "april-attendance-data.csv").items()]
    return [
        State(task, "right", 1.0, {name: table([head, *rows])}, said=ATTENDANCE_URL),
        State(task, "one employee missing", 0.5, {name: table([head, *rows[1:]])}, said=ATTENDANCE_URL),
    ]


def _expenses(utils: Callable[[str], Path]) -> list[State]:
    task, given = "finance_expense_validation", utils("finance_expense_validation")
    corrected = {"expenses_corrected.xlsx": (given / "ref_expenses_corrected.xlsx").read_bytes()}
    analysis = (given / "ref_expenses_analysis.csv").read_text()
    lines = analysis.splitlines()
    return [
        State(task, "right", 1.0, {**corrected, "expenses_analysis.csv": analysis.encode()}),
        State(task, "a category missing", 0.5, {**corrected, "expenses_analysis.csv": "\n".join(lines[:-1]).encode()}),
    ]


def _talent() -> list[State]:
    emily = "Python; Java; C++; JavaScript; React; Node.js; Flask; Git; Docker; AWS; MySQL"
    michael = "JavaScript; Python; Swift; Ruby; Django; Angular; React Native; Git; Firebase; PostgreSQL; Jenkins"
    sarah = "Python; Java; C#; HTML/CSS; Angular; Spring Boot; Express.js; Git; Docker; MongoDB; Kubernetes"
    rows: list[list[object]] = [
        ["Name", "Education", "Work", "Skills"],
        ["Emily Johnson", "UC Berkeley", "Google, Amazon", emily],
        ["Michael Davis", "New York University", "Meta, Spotify", michael],
        ["Sarah Thompson", "University of Texas at Austin", "Microsoft, Oracle", sarah],
    ]
    other = [[row[0], row[1], row[3], row[2]] for row in rows]
    return [
        State("hr_organize_talent_info", "right", 1.0, {"summary.csv": text_table(rows)}),
        State("hr_organize_talent_info", "columns in the prompt's own order", 0.25, {"summary.csv": text_table(other)}),
    ]


def trajectory(state: State) -> bytes:
    """Return a trajectory in which the agent opened a link."""
    call = {"tool_call_id": "1", "function_name": "browser", "arguments": {"url": state.said}}
    steps = [{"step_id": 1, "source": "agent", "message": "I open the folder.", "tool_calls": [call]}]
    return json.dumps({"schema_version": "ATIF-v1.7", "steps": steps}).encode()
