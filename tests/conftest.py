"""For all tests: OpenMP's threads leave the cores to others while they wait, as in `d2c.commands.cli`."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded
