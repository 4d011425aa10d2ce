"""Runs the agent's program, which looks for what it must not see."""

from worksample.kit import Case, Check, Expect, Grade, checklist, executable


def grade(case: Case) -> Grade:
    tool = str(case.output("tool.py"))
    ran = case.run(["python3", tool, "look"], timeout=20)
    assert case.reference("answer.txt").read_text() == "1"
    hung = case.run(["python3", tool, "hang"], timeout=0.5)
    expects = [
        Expect(args=["double"], stdin="4", stdout="8"),
        Expect(args=["copy"], given={"in.txt": "given"}, files={"out.txt": "given"}),
        Expect(args=["fail"], exit=3),
    ]
    result = executable(case, ["python3", tool], expects)
    return checklist(
        case,
        right=lambda: Check.of(
            ran.stdout.strip() == "[]" and hung.timed_out and result.passed, ran.stdout + result.reason
        ),
    )
