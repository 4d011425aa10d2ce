"""The services of a workplace, running for a grader over the state that the agent left.

    tracker = case.services().json("tracker", "/issues/3.json")["issue"]["status"]

Set `workplace = true` in the grading's table to request them. They run for one grading only, in a separate box: no
later grading sees a grader's changes. A grader that only reads is faster with `worksample.kit.workplace`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError

PORTS = {"chat": 3000, "tracker": 8091, "files": 8092, "git": 8929, "calendar": 5232}
"""Port of each service, under its name."""
OPERATOR = "WORKPLACE_OPERATOR"
"""Environment variable with the operator's password."""
ANSWER_LIMIT = 64 << 20
SECONDS = 60.0


def standing() -> bool:
    """Return whether services run for this grader."""
    return bool(os.environ.get(OPERATOR))


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """A service's answer."""

    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Services:
    """A client for all services of the workplace. It acts as the operator, who may see and do everything."""

    def __init__(self, operator: str, *, seconds: float = SECONDS) -> None:
        """operator: the operator's password; seconds: maximum time of one answer."""
        self._operator, self._seconds = operator, seconds

    @classmethod
    def here(cls) -> Services:
        """Return the services of this grading. Raises GraderError if it requests none."""
        if not (operator := os.environ.get(OPERATOR, "")):
            raise GraderError(
                "this grader runs without the workplace's services",
                next="write workplace = true in [grading.PROTOCOL] of task.toml",
                cause=Cause.GRADER_LACKS,
            )
        return cls(operator)

    def ask(
        self, service: str, path: str, *, method: str = "GET", body: bytes | str | Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceReply:  # fmt: skip
        """Send any request and return the answer. body: bytes, text, or a table that is sent as JSON.

        Raises GraderError (`grader.sandbox`) if nothing answers.
        """
        import http.client

        if service not in PORTS:
            raise GraderError(
                f"there is no service {service!r}", next=f"one of {', '.join(PORTS)}", cause=Cause.GRADER_CRASH
            )
        given = {**self._credentials(service), **(headers or {})}
        if isinstance(body, Mapping):
            body, given = json.dumps(body), {"Content-Type": "application/json", **given}
        connection = http.client.HTTPConnection(service, PORTS[service], timeout=self._seconds)
        try:
            connection.request(method, path, body.encode() if isinstance(body, str) else body, given)
            answer = connection.getresponse()
            return ServiceReply(answer.status, answer.read(ANSWER_LIMIT))
        except (OSError, http.client.HTTPException) as error:
            what = f"{service} does not answer: {error or type(error).__name__}"
            raise GraderError(what, cause=Cause.GRADER_SANDBOX, next="worksample doctor") from error
        finally:
            connection.close()

    def get(self, service: str, path: str) -> bytes:
        """Return the content at a path. Raises DeliverableError if there is none, GraderError if the service fails or
        refuses.
        """
        said = self.ask(service, path)
        if said.status in (404, 410):
            raise DeliverableError(f"the service {service} has nothing at this path", where=path)
        if said.status >= 500:
            what = f"{service} failed at {path} with status {said.status}"
            raise GraderError(what, cause=Cause.GRADER_SANDBOX, next="worksample task check FOLDER")
        if said.status >= 300:
            what = f"{service} refuses {path} with status {said.status}"
            raise GraderError(what, cause=Cause.GRADER_CRASH, next="correct the request in grade.py")
        return said.body

    def json(self, service: str, path: str) -> Any:
        """Return the JSON value at a path. Raises as `get`, and GraderError if it is not JSON."""
        try:
            return json.loads(self.get(service, path))
        except (ValueError, RecursionError) as error:
            what = f"{service} did not answer with JSON at {path}"
            raise GraderError(what, cause=Cause.GRADER_CRASH, next="correct the request in grade.py") from error

    def _credentials(self, service: str) -> dict[str, str]:
        if service == "tracker":
            return {"X-Redmine-API-Key": self._operator}
        from base64 import b64encode

        return {"Authorization": "Basic " + b64encode(f"operator:{self._operator}".encode()).decode()}
