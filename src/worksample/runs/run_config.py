"""Settings of a run. They do not change the work itself."""

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
    """Settings of a run: times in seconds, sizes in bytes."""

    parallel: int = 8
    """Number of trials at the same time."""
    tries: int = 2
    """Tries of a slot in this run if the platform, the sandbox or the model's service fails."""
    sandbox: str = "bubblewrap"
    """`bubblewrap`, `docker`, or `none` for no isolation at all."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    """Models of the environment, by role."""
    model_retries: int | None = 5
    """Retries of a model request after a failure of the service."""
    model_timeout: float | None = 1800
    """Time for a model request with all its retries."""
    try_timeout: float | None = 600
    """Time for one try of a model request."""
    connections: int | None = None
    """Model requests at the same time; None: the provider's default."""
    model_args: Mapping[str, Any] = field(default_factory=dict)
    """Arguments for the providers of all models, such as `base_url`."""
    services: Services = field(default_factory=dict)
    """Settings that differ from these for a model or provider."""
    hosts: HostAllowance = field(default_factory=HostAllowance)
    """Hosts that the operator and the suite let tasks' endpoints reach."""
    lease: float = 30.0
    """Time after which a slot without a sign of life may be taken over, and the longest wait for slots of other runs.
    """
    capture: CaptureLimits = field(default_factory=CaptureLimits)
    live_log: bool = False
    """Whether `inspect view` can follow trials while they run. Costs some time per event."""

    def service(self, model: str | None) -> ModelService:
        """Return the settings for calls of a model."""
        default = ModelService(
            self.prices, self.model_retries, self.model_timeout, self.try_timeout, self.connections, self.model_args
        )
        return service_for(model or "", self.services, self.prices, default)
