"""Settings of a run. These settings do not change the work itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from worksample.models import ModelService, Price
from worksample.models.service_config import Services, service_for
from worksample.sandboxes.capture import CaptureLimits
from worksample.sandboxes.endpoints import HostAllowance


@dataclass(frozen=True)
class RunConfig:
    """Settings of a run. Times are in seconds, sizes in bytes."""

    parallel: int = 8
    """Maximum number of trials at the same time."""
    tries: int = 2
    """Maximum number of tries of a slot in this run, if the platform, the sandbox or the model's service fails."""
    sandbox: str = "bubblewrap"
    """Kind of sandbox: `bubblewrap`, `docker`, or `none` for no isolation at all."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Names of the models that belong to the environment (colleagues, judges), by role."""
    model_retries: int | None = 5
    """Maximum number of retries of a model request after a failure of the service. None for no limit."""
    model_timeout: float | None = 1800
    """Maximum time of a model request with all its retries, in seconds. None for no limit."""
    try_timeout: float | None = 600
    """Maximum time of one try of a model request, in seconds. None for no limit."""
    connections: int | None = None
    """Maximum number of model requests at the same time. None for the provider's default."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that are passed to the providers of all models, such as `base_url`."""
    services: Services = field(default_factory=dict)
    """Settings for certain models or providers, which replace the settings above."""
    hosts: HostAllowance = field(default_factory=HostAllowance)
    """Hosts that the operator and the suite allow for the endpoints of tasks."""
    lease: float = 30.0
    """Duration of a slot's lease in seconds. If a run is stopped, another run can take over its slots after this time.
    A run also waits at most this long for slots of other runs.
    """
    capture: CaptureLimits = field(default_factory=CaptureLimits)
    live_log: bool = False
    """True if `inspect view` can show trials while they run. This costs some time for each event."""

    def service(self, model: str | None) -> ModelService:
        """Return the settings for requests to a model."""
        default = ModelService(
            self.prices, self.model_retries, self.model_timeout, self.try_timeout, self.connections, self.model_args
        )
        return service_for(model or "", self.services, self.prices, default)
