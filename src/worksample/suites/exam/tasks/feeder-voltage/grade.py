"""Feeder: voltages node by node; the summary counts only if some voltage below the source's is right."""

from worksample.kit import Case, Check, Grade, close, tabular, weighted


def grade(case: Case) -> Grade:
    want = case.ref_json("summary.json")

    def voltages(**tolerance: float) -> Check:
        got, reference = case.rows("voltages.csv"), case.ref_rows("voltages.csv")
        check = tabular(got, reference, keys=["node"], columns=list(tolerance), tolerance=tolerance)
        # The source's own row is given: what it earns is subtracted.
        given = 1 / len(reference)
        return Check(max(0.0, (check.fraction - given) / (1 - given)), check.reason)

    def losses() -> Check:
        told = case.json("summary.json", like={"losses_kw": float})
        return Check.of(close(told["losses_kw"], want["losses_kw"], 0, 0.01), f"losses are {told['losses_kw']} kW")

    def limits() -> Check:
        told = case.json("summary.json", like={"lowest_node": str, "nodes_beyond_limit": int})
        right = [
            told["lowest_node"].strip() == want["lowest_node"],
            told["nodes_beyond_limit"] == want["nodes_beyond_limit"],
        ]
        return Check.of(all(right), "the weakest node or the number of nodes beyond the limit is wrong")

    return weighted(
        case,
        voltages=lambda: voltages(kv=0.002, drop_pct=0.02),
        roughly=lambda: voltages(kv=0.05),
        losses=losses,
        limits=limits,
    )
