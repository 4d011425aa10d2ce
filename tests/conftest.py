"""What all tests share: properties are never timed, for a busy machine proves nothing."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("worksample", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("worksample")
