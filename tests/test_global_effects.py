"""What `import d2c`, a model and a parse change for others in a process: nothing.

Seen from a process that has imported the libraries that d2c uses, and has settings of its own. What else is
global, and why it may be:

- spaCy knows the component `d2c`, where d2c is installed: that is what its entry point is for.
- Loggers of Stanza get a filter, which passes all but what Stanza logs while d2c runs it.
- torch uses one thread in forked processes, once a model with a network is loaded: it would wait for the
  threads of its parent there, without end.
- While a batch is parsed, in pipelines too, BLAS and torch have one thread, or as many as `threads` says;
  then as before.
- A finder looks out for torch, if thinc was imported without it, to tell it; then it goes.
- threadpoolctl, which a model needs, sets KMP_DUPLICATE_LIB_OK when it is imported, as scikit-learn does.
- The command line, whose process is its own, handles signals, sets OMP_WAIT_POLICY, gc's threshold and Ray's
  variables and logger.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
STATE = """
import gc, locale, logging, multiprocessing, os, random, signal, sys, threading, warnings

def loggers():
    named = logging.root.manager.loggerDict.items()
    for name, log in [("", logging.root), *((n, log) for n, log in named if isinstance(log, logging.Logger))]:
        yield name, (log.level, log.disabled, log.propagate, [*log.handlers])

def state():
    found = {f"logger {name}": known for name, known in loggers()}
    found |= {f"environment {name}": value for name, value in os.environ.items()}
    found |= {f"signal {number}": signal.getsignal(number) for number in signal.valid_signals()}
    hooks = "excepthook", "displayhook", "unraisablehook", "breakpointhook"
    found |= {name: getattr(sys, name) for name in hooks}
    found |= {
        "levels": (logging.root.manager.disable, logging.getLoggerClass(), logging.getLogRecordFactory()),
        "warnings": ([*warnings.filters], warnings.showwarning, warnings.formatwarning),
        "start method": multiprocessing.get_start_method(allow_none=True),
        "finders": ([*sys.meta_path], [*sys.path_hooks], [*sys.path]),
        "threads": {*threading.enumerate()},
        "process": (os.getcwd(), locale.setlocale(locale.LC_ALL), sorted(os.sched_getaffinity(0))),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), threading.stack_size()),
        "gc": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), [*gc.callbacks]),
        "random": random.getstate(),
        "streams": (sys.stdin, sys.stdout, sys.stderr, sys.stdout.encoding),
    }
    if "numpy" in sys.modules:
        import numpy
        generator = str(numpy.random.get_state())
        found["numpy"] = numpy.geterr(), numpy.geterrcall(), numpy.get_printoptions(), generator
    if "numba" in sys.modules:
        import numba
        found["numba"] = {name: value for name, value in vars(numba.config).items() if name.isupper()}
        found["numba threads"] = numba.get_num_threads()
    if "spacy" in sys.modules:
        from spacy.tokens.underscore import Underscore
        from thinc.api import get_current_ops
        kinds = Underscore.doc_extensions, Underscore.span_extensions, Underscore.token_extensions
        found["spacy"] = [{**kind} for kind in kinds], type(get_current_ops())
    if "nltk" in sys.modules:
        found["nltk"] = {name: module for name, module in sys.modules.items() if name.startswith("nltk")}
    if "torch" in sys.modules:
        import torch
        found["torch"] = (
            torch.get_num_threads(), torch.get_num_interop_threads(), torch.is_grad_enabled(),
            torch.is_inference_mode_enabled(), torch.get_default_dtype(), torch.get_default_device(),
            torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision(),
            torch.is_autocast_enabled("cpu"), torch.backends.mkldnn.enabled, torch.backends.cudnn.benchmark,
            torch.multiprocessing.get_sharing_strategy(), torch.random.get_rng_state().tolist(),
        )
    if "threadpoolctl" in sys.modules:
        pools = sys.modules["threadpoolctl"].threadpool_info()
        found["pools"] = {pool["filepath"]: pool["num_threads"] for pool in pools}
    if "transformers" in sys.modules:
        log = sys.modules["transformers"].utils.logging
        found["transformers"] = log.get_verbosity(), log.is_progress_bar_enabled()
    return found

NEW = logging.NOTSET, False, True, []  # of a logger that a module has made, and nobody has set

def changed(before):
    now = state()
    new = {name: NEW for name in now if name.startswith("logger ")}
    return sorted(name for name in {**before, **now} if {**new, **before}.get(name) != now.get(name))
"""
LOADED = """
import spacy
before = state()
spacy.blank("en")
import d2c.plugins.spacy.component
print(changed(before))
import numba, nltk, numpy, threadpoolctl
for name in sys.argv[2:]:
    __import__(name)
logging.getLogger("stanza").setLevel(logging.WARNING)
logging.getLogger("spacy").setLevel(logging.ERROR)
warnings.simplefilter("error", BytesWarning)
numpy.seterr(over="raise")
numba.get_num_threads()
before = state()
for name in sys.argv[1].split():
    parser = d2c.load(name)
    print(changed(before))
    assert parser("They slept.")[0].tree.label
    print(changed(before))
from d2c.parsing import text
print(text.NLTKWordTokenizer is nltk.NLTKWordTokenizer)
"""


def python(code: str, *arguments: str) -> list[str]:
    environment = dict(os.environ, PYTHONPATH=str(REPOSITORY))
    command = [sys.executable, "-c", STATE + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_an_import_changes_nothing() -> None:
    code = "before, known = state(), {*sys.modules}; import d2c; print(changed(before))\n"
    more = "print({name.partition('.')[0] for name in {*sys.modules} - known} - sys.stdlib_module_names)"
    assert python(code + more) == ["[]", "{'d2c'}"]


@pytest.mark.slow
def test_a_component_and_models_change_nothing() -> None:
    """spaCy imports the component wherever it makes a pipeline, if d2c is installed. NLTK stays the one that
    was imported."""
    libraries = [*filter(find_spec, ("torch", "stanza", "transformers"))]
    models = ["en", "en-small"][len(libraries) < 3 :]
    assert python(LOADED, " ".join(models), *libraries) == ["[]"] * (1 + 2 * len(models)) + ["True"]
