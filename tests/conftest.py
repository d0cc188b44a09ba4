"""Settings that hold for all tests."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ci" if os.environ.get("CI") else "here")
