"""Process: nodes by kind, name and lane; flows by their ends and names. Nodes without any flow earn nothing."""

from worksample.kit import Case, Grade, bpmn, weighted


def grade(case: Case) -> Grade:
    return weighted(case, process=lambda: bpmn(case.output("process.bpmn"), case.reference("process.bpmn")))
