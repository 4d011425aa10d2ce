"""People's rounds of a running experiment, which are filled as trials close."""

from __future__ import annotations

import asyncio

from worksample.errors import Superseded
from worksample.records import EvaluatorKind, Experiment, Instance
from worksample.results.calibration.config import calibrated
from worksample.store import Store

from .exclusive_lease import exclusively
from .rounds import FillRounds, required_evaluators


class PeopleRounds:
    """Worker that fills the rounds after trials close: once for all that closed during the last filling."""

    def __init__(self, store: Store, experiment: Experiment, people: FillRounds | None) -> None:
        instances = [store.get(Instance, id) for id in experiment.lock.instances]
        judges = calibrated(experiment)
        asked = required_evaluators(instances, experiment.lock.protocols, judges)
        mine = {protocol for protocol, by in asked if by is EvaluatorKind.PERSON} | judges
        self.protocols = [protocol for protocol in experiment.lock.protocols if protocol in mine]
        self._store, self._experiment, self._people = store, experiment, people
        self._closed = asyncio.Event()

    def wake(self) -> None:
        """Tell the worker that a trial closed."""
        self._closed.set()

    async def work(self) -> None:
        """Fill the rounds whenever a trial closed, until cancelled."""
        while True:
            await self._closed.wait()
            self._closed.clear()
            await asyncio.to_thread(self.fill)

    def fill(self) -> int:
        """Give all submissions to people. Return the number of new items."""
        if self._people is None or not self.protocols:
            return 0
        # One process at a time: two that open a round at once would give out everything twice.
        try:
            with exclusively(self._store, f"people:{self._experiment.id}"):
                return sum(self._people(self._store, self._experiment, protocol) for protocol in self.protocols)
        except Superseded:  # this process was stalled, and another one took over
            return 0
