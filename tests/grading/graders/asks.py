"""Asks a judge about a text; `careless` goes on without an answer."""

from worksample.kit import Case, Grade, GraderError, checklist


def grade(case: Case) -> Grade:
    text = case.text("answer.txt")
    if "careless" in text:
        try:
            case.ask("Does the text name a sum?", case.output("answer.txt"))
        except GraderError:
            return Grade(score=0.0)
    return checklist(case, right=lambda: case.ask("Does the text name a sum?", case.output("answer.txt")).check)
