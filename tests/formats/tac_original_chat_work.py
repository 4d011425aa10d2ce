"""Right work and half of it at originals of TheAgentCompany whose contents the public copy holds: chat and local files.

Answers of colleagues come from what each colleague knows, and a script takes from them what its brief asks for.
"""

from __future__ import annotations

from formats.tac_original_helper import HELPER, deck_of, workbook
from formats.tac_port_work import Work

_VALID = r"""
def valid(text, name=""):
    return [w for w in re.findall(r"[A-Za-z0-9!@#$%^&*_]{12,16}", text) if re.search("[A-Z]", w) and re.search("[a-z]", w)
            and re.search("[0-9]", w) and re.search("[!@#$%^&*]", w) and not re.search(r"(.)\1\1", w)
            and not any(part in w.lower() for part in name.split("_"))]
RULES = "12 to 16 characters, upper and lower case letters, a digit, one of !@#$%^&*, no three equal characters in a row, not your name"
def password_of(who):
    for text in ("Please give me a new valid password.", "The rules: " + RULES, "Another one, please.", "Another one, please."):
        found = valid(tell(who, text), who)
        if found: return found[-1]
"""
_TEAM = '["mark_johnson", "sarah_johnson", "li_ming", "zhang_wei", "mike_chen"]'
_LEADERS = [
    ("Sarah Johnson", "CTO"), ("Mark Johnson", "Sales Director"), ("Jessica Lee", "Marketing Manager"),
    ("David Wong", "Finance Director"), ("Chen Xinyi", "Human Resources Manager"),
]  # fmt: skip
_HOURS = """
meetings = [(900, 1030), (1200, 1300), (1400, 1500), (915, 1000), (1130, 1230), (1430, 1530), (945, 1100), (1130, 1215),
            (1400, 1530), (1045, 1130), (1300, 1400), (1100, 1230), (1330, 1500), (1130, 1215), (1315, 1400)]
rooms = max(sum(a <= t < b for a, b in meetings) for t, _ in meetings)
"""
_PRESENCE = """
from datetime import datetime
found = re.findall(r"(\\d{4}-\\d{2}-\\d{2})\\s+(Arrival|Departure)", read("travel_history.txt"))
rows = sorted((datetime.strptime(at, "%Y-%m-%d"), kind) for at, kind in found)
days, since = 0, datetime(2023, 1, 1) if rows[0][1] == "Departure" else None
for at, kind in rows:
    if kind == "Arrival": since = at
    elif since is not None: days, since = days + (at - since).days + 1, None
if since is not None: days += (datetime(2023, 12, 31) - since).days + 1
print(rows, days)
"""

RIGHT = {
    "admin-arrange-meeting-rooms": _HOURS + 'write("ans.txt", str(rooms)); tell("chen_xinyi", "We need %d rooms." % rooms, False)',
    "finance-substantial-presence-test": _PRESENCE + 'tell("huang_jie", "You stayed %d days in 2023." % days, False)',
    "hr-get-valid-password": _VALID + 'write("password.txt", password_of("mark_johnson"))',
    "hr-collect-multiple-valid-passwords": _VALID
    + f'write("passwords.txt", "".join("%s: %s\\n" % (who, password_of(who)) for who in {_TEAM}))',
    "hr-check-for-invalid-passwords-and-ask-for-valid-passwords": _VALID
    + """
lines = [line.split(": ", 1) for line in read("passwords.txt").splitlines() if ": " in line]
write("passwords.txt", "".join("%s: %s\\n" % (who, word if valid(word, who) == [word] else password_of(who)) for who, word in lines))
""",
    "hr-collect-feedbacks": """
said = [tell(who, "What do you think of Liu Qiang's recent job performance?") for who in ("mike_chen", "li_ming", "zhang_wei")]
good = ["positive opinions" in one or "great" in one for one in said]
verdict = "you had the top performance in the company" if all(good) else (
    "please work harder in the next quarter" if not any(good) else "you did average last quarter")
tell("liu_qiang", "Your performance review: " + verdict + ".", False)
""",
    "hr-delete-and-insert-user": """
chat("POST", "users.delete", {"username": "li_ming"})
chat("POST", "users.create", {"email": "dandan.liu@example.com", "name": "DanDan Liu", "password": "Intern2024!x", "username": "dandan_liu"})
invite("product", "dandan_liu")
""",
    "hr-transfer-group": """
who = person("li_ming")["_id"]
chat("POST", "channels.kick", {"roomId": channel("project-graphdb"), "userId": who})
invite("project-ai", "li_ming")
chat("POST", "users.update", {"userId": who, "data": {"bio": "Li Ming works in the AI team."}})
""",
    "hr-pick-interviewer-2": """
names = [n for n in ("mark_johnson", "jessica_lee", "emily_zhou", "david_wong")
         if n.replace("_", " ").title() in tell("chen_xinyi", "Who is available as an interviewer?")]
for name in ("mark_johnson", "jessica_lee", "david_wong", "emily_zhou"):
    said = tell(name, "Are you available for a technical interview of a candidate?", name != "david_wong")
    if re.search("accept|quite available", said): write("interviewer.txt", name.replace("_", " ").title())
""",
    "hr-pick-interviewer-3": """
tell("emily_zhou", "Are you available for a technical interview?")
tell("jessica_lee", "Are you available for a technical interview?")
tell("emily_zhou", "Jessica Lee is not available. Do you agree to interview for the technical interview?")
""",
    "pm-add-new-moderator": """
look(":3000/home"); look(":3000/channel/help-desk"); invite("help-desk", "liu_qiang")
chat("POST", "channels.addModerator", {"roomId": channel("help-desk"), "userId": person("liu_qiang")["_id"]})
""",
    "pm-change-channel-ownership": """
look(":3000/home"); look(":3000/channel/general")
chat("POST", "channels.addOwner", {"roomId": channel("general"), "userId": person("theagentcompany")["_id"]})
""",
    "pm-create-channel-message": """
look(":3000/home"); chat("POST", "channels.create", {"name": "finance-talk"}); invite("finance-talk", "david_wong")
post("finance-talk", "Welcome to the finance-talk channel!")
""",
    "pm-create-channel-message-medium": """
chat("POST", "channels.create", {"name": "literaturereview"}); invite("literaturereview", "emma_lewis", "wang_fang")
post("literaturereview", "Welcome to the literature review channel!")
chat("POST", "channels.create", {"name": "benchmarking"}); invite("benchmarking", "emma_lewis", "alex_turner", "david_wong")
post("benchmarking", "This will be for all our benchmarking projects.")
""",
    "pm-create-channel-new-leader": """
look(":3000/home"); chat("POST", "channels.create", {"name": "sales-talk"}); invite("sales-talk", "mark_johnson")
chat("POST", "channels.addLeader", {"roomId": channel("sales-talk"), "userId": person("mark_johnson")["_id"]})
""",
    "pm-schedule-meeting-1": """
days = [{d for d in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
         if d in tell(who, "On which workdays are you free?").split("not available")[0]} for who in ("emily_zhou", "liu_qiang")]
both = days[0] & days[1]
write("conclusion.txt", "The meeting is on " + sorted(both)[0] if both else "No meeting scheduled this week")
""",
    "pm-send-hello-message": 'look(":3000/channel/general"); post("general", "Hi @here :kissing_smiling_eyes:")',
    "pm-send-notification-to-corresponding-user": """
said = tell("jessica_lee", "What should I do? Is there a plan to hold a kickoff meeting for the main Q4 project?")
for who in ("david_wong", "huang_jie", "mark_johnson"):
    if who.replace("_", " ").title() in said:
        tell(who, "There is a plan to hold a kickoff meeting for the main Q4 project; please join it.", False)
""",
}  # fmt: skip
RIGHT["pm-schedule-meeting-2"] = RIGHT["pm-schedule-meeting-1"]
RIGHT["admin-employee-info-reconciliation"] = """
people = chat("GET", "users.list?count=0")["users"]
table = list(csv.DictReader(io.StringIO(read("employees.csv"))))
known = {row["name"].strip(): row for row in table}
for row in table: print(row)
phones = {}
for who, name in (("priya_sharma", "Priya Sharma"), ("sophia_rodriguez", "Sophia Rodriguez"), ("zhang_wei", "Zhang Wei")):
    phones[name] = re.findall(r"\\d{3}-\\d{3}-\\d{4}", tell(who, "What is your phone number?"))[-1]
for one in people:
    if one["username"] != ME and one["name"] not in known and not any(
            row["email"] == one["name"].replace(" ", "").lower() + "@example.com" for row in table):
        table.append({**dict.fromkeys(table[0], ""), "name": one["name"]})
names = {one["name"] for one in people}
for row in table:
    row["name"] = row["name"].strip()
    if row["name"] not in names:  # a misspelt name beside the right address
        row["name"] = [n for n in names if n.replace(" ", "").lower() + "@example.com" == row["email"]][0]
    if row["name"] in phones: row["phone"] = phones[row["name"]]
    if not row.get("email"): row["email"] = row["name"].replace(" ", "").lower() + "@example.com"
out = io.StringIO(); writer = csv.DictWriter(out, table[0]); writer.writeheader(); writer.writerows(table)
write("employees.csv", out.getvalue())
"""
HALF = {
    "admin-arrange-meeting-rooms": (_HOURS + 'write("ans.txt", str(rooms))', 1 / 2),
    "finance-substantial-presence-test": ('tell("huang_jie", "You stayed 300 days in 2023.", False)', 1 / 2),
    "hr-get-valid-password": (_VALID + 'password_of("mark_johnson"); write("password.txt", "later")', 2 / 4),
    "hr-collect-multiple-valid-passwords": (_VALID + f"[password_of(who) for who in {_TEAM}]", 2 / 4),
    "hr-check-for-invalid-passwords-and-ask-for-valid-passwords": (
        _VALID + '[password_of(who) for who in ("mark_johnson", "mike_chen")]', 2 / 4),
    "hr-collect-feedbacks": ('for who in ("mike_chen", "li_ming"): tell(who, "How does Liu Qiang work?")', 2 / 5),
    "hr-delete-and-insert-user": ('chat("POST", "users.delete", {"username": "li_ming"})', 1 / 3),
    "hr-transfer-group": (
        'chat("POST", "channels.kick", {"roomId": channel("project-graphdb"), "userId": person("li_ming")["_id"]})', 1 / 3),
    "hr-pick-interviewer-2": ('tell("chen_xinyi", "Who is available as an interviewer?")', 2 / 6),
    "hr-pick-interviewer-3": ('tell("jessica_lee", "Are you available for a technical interview?")', 1 / 4),
    "pm-add-new-moderator": ('look(":3000/home"); look(":3000/channel/help-desk")', 2 / 3),
    "pm-change-channel-ownership": ('look(":3000/home"); look(":3000/channel/general")', 2 / 3),
    "pm-create-channel-message": (
        'look(":3000/home"); chat("POST", "channels.create", {"name": "finance-talk"}); invite("finance-talk", "david_wong")',
        2 / 3),
    "pm-create-channel-message-medium": (RIGHT["pm-create-channel-message-medium"].split('chat("POST"', 2)[0]
        + 'chat("POST"' + RIGHT["pm-create-channel-message-medium"].split('chat("POST"', 2)[1], 3 / 6),
    "pm-create-channel-new-leader": ('look(":3000/home"); chat("POST", "channels.create", {"name": "sales-talk"})', 2 / 3),
    "pm-schedule-meeting-1": ('for who in ("emily_zhou", "liu_qiang"): tell(who, "When are you free?")', 2 / 5),
    "pm-schedule-meeting-2": ('for who in ("emily_zhou", "liu_qiang"): tell(who, "When are you free?")', 2 / 5),
    "pm-send-hello-message": ('look(":3000/channel/general"); post("general", "Hi")', 3 / 5),
    "pm-send-notification-to-corresponding-user": (
        'tell("jessica_lee", "Is there a plan to hold a kickoff meeting for the main Q4 project?")', 1 / 4),
    "admin-employee-info-reconciliation": (
        'for who in ("priya_sharma", "sophia_rodriguez", "zhang_wei"): tell(who, "What is your phone number?")', 3 / 7),
}  # fmt: skip
"""Task -> (program that does a part of the work, share of the points that the checkpoints give for it)."""


def chat_work() -> list[Work]:
    """Return right and half work."""
    deck = deck_of([[name, role, "Leads the company."] for name, role in _LEADERS])
    people = ["Huang Jie", "Mike Chen", "Emily Zhou", "Liu Qiang", "Chen Xinyi"]
    scores = [4, 5, 4, 4, None]
    rows = [[n, "helpful" if s else None, s] for n, s in zip(people, scores, strict=True)]
    table = workbook([["Name", "Feedback", "Score"], *rows])
    ask = 'tell("huang_jie", "Who took part in the all hands meeting, and what is your feedback?")\n' + "".join(
        f'tell("{who}", "Your feedback and score (1-5) of the all hands meeting?", False)\n'
        for who in ("mike_chen", "emily_zhou", "liu_qiang", "chen_xinyi")
    )
    done = 'tell("chen_xinyi", "The slides about the leadership are done: /workspace/leadership_intro.pptx", False)'
    return [
        *(Work(task, "right", program=HELPER + program) for task, program in RIGHT.items()),
        *(Work(task, "half", program=HELPER + program, share=share) for task, (program, share) in HALF.items()),
        Work("hr-make-slides-introduce-leadership", "right", {"leadership_intro.pptx": deck}, program=HELPER + done),
        Work("hr-make-slides-introduce-leadership", "half", {"leadership_intro.pptx": deck}, share=4 / 5),
        Work("admin-ask-for-meeting-feedback", "right", {"meeting_feedback.xlsx": table}, program=HELPER + ask),
        Work("admin-ask-for-meeting-feedback", "half", program=HELPER + ask, share=1 / 6),
    ]
