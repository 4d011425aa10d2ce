"""Robot: the course is replayed; states after each order are the recorded trajectory."""

from worksample.kit import Case, Check, ForbiddenAction, Grade, replayed, weighted

STEPS = {"N": (-1, 0), "S": (1, 0), "E": (0, 1), "W": (0, -1)}


def grade(case: Case) -> Grade:
    import json

    grid = case.input("floor.txt").read_text().splitlines()
    job = json.loads(case.input("orders.json").read_text())
    owner = {item: n for n, order in enumerate(job["orders"]) for item in order["items"]}
    sizes = [len(order["items"]) for order in job["orders"]]
    start = {"at": job["dock"], "held": [], "done": [0] * len(sizes), "picked": []}

    def apply(state: dict, action: object) -> dict:
        if not isinstance(action, str):
            raise ForbiddenAction("is not a text")
        if action in STEPS:
            row, column = (a + b for a, b in zip(state["at"], STEPS[action], strict=True))
            if not (0 <= row < len(grid) and 0 <= column < len(grid[row])) or grid[row][column] == "#":
                raise ForbiddenAction("moves onto a blocked cell")
            return {**state, "at": [row, column]}
        if action == "drop":
            if state["at"] != job["dock"]:
                raise ForbiddenAction("drops away from the dock")
            done = list(state["done"])
            for item in state["held"]:
                done[owner[item]] += 1
            return {**state, "held": [], "done": done}
        verb, _, item = action.partition(" ")
        if verb != "pick" or item not in owner:
            raise ForbiddenAction("is no action")
        if job["shelves"][item] != state["at"] or item in state["picked"] or len(state["held"]) >= job["capacity"]:
            raise ForbiddenAction("picks what is not there, a second time, or beyond the capacity")
        if any(state["done"][n] < sizes[n] for n in range(owner[item])):
            raise ForbiddenAction("picks before the orders before it are delivered")
        return {**state, "held": [*state["held"], item], "picked": [*state["picked"], item]}

    course = [{"done": [*sizes[: n + 1], *[0] * (len(sizes) - n - 1)]} for n in range(len(sizes))]
    actions = lambda: case.json("course.json", like=[str])  # noqa: E731
    best = len(case.ref_json("course.json"))

    def length() -> Check:
        if not replayed(actions(), course, start, apply).passed:
            return Check(0.0, "the course is not complete")
        ratio = len(actions()) / best
        return Check(max(0.5, min(1.0, 1 - (ratio - 1.1) / 1.8)), f"{len(actions())} actions, the planner's {best}")

    return weighted(case, orders=lambda: replayed(actions(), course, start, apply), length=length)
