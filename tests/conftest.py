"""What holds for all tests."""

from __future__ import annotations

import os
import signal
import sys
import tempfile

from hypothesis import settings

from tests.outcomes import cluster as cluster
from tests.outcomes import outcome as outcome
from tests.outcomes import pytest_collection_finish as pytest_collection_finish
from tests.outcomes import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.outcomes import pytest_sessionfinish as pytest_sessionfinish


def pytest_xdist_auto_num_workers() -> int:
    """Half as many again as there are cores: many tests wait for processes that they start."""
    cores = os.cpu_count() or 1
    return cores + (cores + 1) // 2


# In the background of a shell, SIGINT is ignored, and so it would be by all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# What is noted for a user, and what a user has configured, is not that of whoever runs the tests.
_HOME = tempfile.TemporaryDirectory(prefix="distlint-tests-")
os.environ["XDG_CACHE_HOME"] = os.path.join(_HOME.name, "cache")
os.environ["XDG_CONFIG_HOME"] = os.path.join(_HOME.name, "config")
os.environ.pop("DISTLINT_NO_PROJECT_RULES", None)

# Each run tries the same examples; `--hypothesis-profile=default` draws others.
settings.register_profile("the same", derandomize=True)
settings.load_profile("the same")

# The tests start hundreds of processes; without bytecode each compiles all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
