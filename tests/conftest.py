"""For all tests: threads of OpenMP (torch's) that wait leave the cores to others, as they do in `d2c.cli`."""

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read when torch is loaded
