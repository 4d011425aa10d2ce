"""People's rounds of a running experiment, filled as its trials close."""

from __future__ import annotations

import asyncio

from worksample.errors import Superseded
from worksample.records import EvaluatorKind, Experiment, Instance
from worksample.results.calibration.config import calibrated_protocols
from worksample.store import Store

from .claim import alone
from .rounds import Fill, asked_of


class Filling:
    """Fills the rounds after trials closed: once for all that closed while the last filling went on."""

    def __init__(self, store: Store, experiment: Experiment, people: Fill | None) -> None:
        instances = [store.get(Instance, id) for id in experiment.lock.instances]
        judges = calibrated_protocols(experiment)
        asked = asked_of(instances, experiment.lock.protocols, judges)
        mine = {protocol for protocol, by in asked if by is EvaluatorKind.PERSON} | judges
        self.protocols = [protocol for protocol in experiment.lock.protocols if protocol in mine]
        self._store, self._experiment, self._people = store, experiment, people
        self._closed = asyncio.Event()

    def closed(self) -> None:
        """Say that there is something new."""
        self._closed.set()

    async def work(self) -> None:
        """Fill whenever something closed, until cancelled."""
        while True:
            await self._closed.wait()
            self._closed.clear()
            await asyncio.to_thread(self.fill)

    def fill(self) -> int:
        """Give people all that there is; how many items came in."""
        if self._people is None or not self.protocols:
            return 0
        # One process at a time: two that open a round at once would give everything out twice.
        try:
            with alone(self._store, f"people:{self._experiment.id}"):
                return sum(self._people(self._store, self._experiment, protocol) for protocol in self.protocols)
        except Superseded:  # another process fills them, which took over while this one stood still
            return 0
