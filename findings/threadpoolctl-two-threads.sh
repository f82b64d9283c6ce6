#!/usr/bin/env bash
# threadpoolctl 3.8.0: two Python threads that limit BLAS at the same time leave it at one thread for good.
#
# Expected: after `with threadpool_limits(1)` in two overlapping threads, OpenBLAS has as many threads as before both. The
# class for OpenBLAS says that its size "can only be set by a single thread", that others "silently do nothing", and that
# `with` blocks clear the controlling thread when they are done, "including when nested".
# Seen: the second thread's limit does nothing, but it remembers the limit of the first as the earlier value. When the
# first thread has left, the second is in control and restores that value: 1, for the whole process, without a warning.
# Also seen: when a limit of one kind ends, it restores all kinds, unless they are selected first.
# What to do: keep the limits in one list for all threads, and let each thread that leaves lift the newest one. Then the
# last thread lifts the first limit.
set -euo pipefail
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
python3 -m venv "$place/env"
"$place/env/bin/pip" install -q "threadpoolctl==3.8.0" "numpy==2.4.6" 2>/dev/null
OPENBLAS_NUM_THREADS=2 "$place/env/bin/python" - <<'END'
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import numpy  # noqa: F401 (brings OpenBLAS)
from threadpoolctl import threadpool_info, threadpool_limits


def threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def run(order):
    """Enter two blocks in two threads, leave them in an order; return BLAS's threads after each step."""
    seen, blocks = [threads()], [None, None]

    def enter(i):
        blocks[i] = threadpool_limits(1)
        blocks[i].__enter__()

    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        pools = one, other
        for i in (0, 1):
            pools[i].submit(enter, i).result()
            seen.append(threads())
        for i in order:
            pools[i].submit(blocks[i].__exit__, None, None, None).result()
            seen.append(threads())
    return seen


print("threadpoolctl", version("threadpoolctl"))
nested, overlapping = run((1, 0)), run((0, 1))
print("the second leaves first:", nested)
print("the first leaves first: ", overlapping)
assert nested == [[2], [1], [1], [1], [2]]
assert overlapping == [[2], [1], [1], [2], [1]]
END
