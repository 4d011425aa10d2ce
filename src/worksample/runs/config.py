"""How trials are run. Nothing of it decides what the work is."""

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
    """Times in seconds, sizes in bytes."""

    parallel: int = 8
    """Trials at once."""
    tries: int = 2
    """How often a slot is tried in this run where platform, sandbox or the model's service failed."""
    sandbox: str = "bubblewrap"
    """`bubblewrap`, `docker`, or `none` for no isolation at all."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Models that belong to the environment, by role."""
    model_retries: int | None = 5
    """Of one model request, after a fault of the service."""
    model_timeout: float | None = 1800
    """Of one model request with all its retries."""
    try_timeout: float | None = 600
    """Of one try of a model request."""
    connections: int | None = None
    """Model requests at once; None: the provider's default."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    """For all models' providers, such as `base_url`."""
    services: Services = field(default_factory=dict)
    """What of these differs, by model or provider."""
    hosts: HostAllowance = field(default_factory=HostAllowance)
    """What the operator and the suite allow tasks' endpoints to reach."""
    lease: float = 30.0
    """How long a slot stays this run's own without a sign of life, and at most how long others' are waited for."""
    capture: CaptureLimits = field(default_factory=CaptureLimits)
    live_log: bool = False
    """Whether `inspect view` can follow trials as they run; costs some time per event."""

    def service(self, model: str | None) -> ModelService:
        """How a model is called."""
        default = ModelService(
            self.prices, self.model_retries, self.model_timeout, self.try_timeout, self.connections, self.model_args
        )
        return service_for(model or "", self.services, self.prices, default)
