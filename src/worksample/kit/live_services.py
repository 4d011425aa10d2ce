"""A client for the running services of a workplace, for graders. The services run over the state that the agent left.

    tracker = case.services().json("tracker", "/issues/3.json")["issue"]["status"]

To request the services, set `workplace = true` in the grading table of `task.toml`. The services run for one grading
only, in a separate box, so that no later grading sees a grader's changes. A grader that only reads is faster with
`worksample.kit.workplace`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worksample.errors import Cause, DeliverableError, GraderError

PORTS = {"chat": 3000, "tracker": 8091, "files": 8092, "git": 8929, "calendar": 5232}
"""TCP port of each service in the grading box, by the name of the service."""
OPERATOR = "WORKPLACE_OPERATOR"
"""Name of the environment variable that holds the operator's password."""
ANSWER_LIMIT = 64 << 20
SECONDS = 60.0


def standing() -> bool:
    """Return whether the workplace's services run for this grader."""
    return bool(os.environ.get(OPERATOR))


@dataclass(frozen=True, slots=True)
class ServiceReply:
    """The HTTP answer of a service: status code and body."""

    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


class Services:
    """An HTTP client for all services of the workplace. Requests use the operator's account, which may see and do
    everything.
    """

    def __init__(self, operator: str, *, seconds: float = SECONDS) -> None:
        """Create a client. operator: the operator's password. seconds: maximum time to wait for one answer."""
        self._operator, self._seconds = operator, seconds

    @classmethod
    def here(cls) -> Services:
        """Return a client for the services of this grading. Raises GraderError if the task's grading does not request
        the services.
        """
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
        """Send a request to a service and return the answer, whatever its status code. body: bytes, text, or a mapping
        that is sent as JSON.

        Raises GraderError if the service is unknown or does not answer.
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
        """Return the content at a path of a service. Raises DeliverableError if the service has nothing at this path;
        GraderError if the service fails or refuses the request.
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
        """Return the JSON value at a path of a service. Raises DeliverableError if the service has nothing at this
        path; GraderError if the service fails, refuses the request, or answers with something else than JSON.
        """
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
