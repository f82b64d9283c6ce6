"""For all tests: OpenMP's threads leave the cores to others while they wait, as in `d2c.commands.cli`. On a
busy machine hypothesis does not take a pause for a slow test."""

import os

from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
