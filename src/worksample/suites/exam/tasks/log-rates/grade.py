"""Program: run with logs that the agent has not seen; printing the sample's answer earns nothing."""

from worksample.kit import Case, Check, Expect, Grade, executable, weighted


def grade(case: Case) -> Grade:
    case.output("rates.py")
    runs = [Expect(stdin=one["stdin"], stdout=one["stdout"]) for one in case.ref_json("runs.json")]
    argv = ["python3", str(case.folder("output") / "rates.py")]

    def check() -> Check:
        # Logs without a request are right for programs that print a constant: they count only beside a real log.
        real = executable(case, argv, runs[:4], timeout=20)
        if real.fraction == 0:
            return real
        bare = executable(case, argv, runs[4:], timeout=20)
        return Check((4 * real.fraction + 2 * bare.fraction) / 6, f"{real.reason} {bare.reason}".strip())

    return weighted(case, runs=check)
