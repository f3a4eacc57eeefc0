"""Scripts that call the runtime on a few forked ranks, from the package or a vendored file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from distlint.engine.vendor import vendored
from distlint.harness.cluster import Cluster, Outcome

HEAD = """\
import gc, os, sys, time
gc.freeze()  # collecting what the ranks have in common takes most of a second
import torch
import torch.distributed as dist
sys.path.insert(0, {folder!r})
import {runtime} as rt
from tests.runtime.raises import raises, wait_for

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
dist.barrier()  # who leaves early would end the others' start
"""

Ranks = Callable[..., Outcome]


@pytest.fixture(scope="session")
def vendored_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vendored")
    path = folder / "vendored_ranks.py"
    path.write_text(vendored(path, None))
    return folder


@pytest.fixture(params=["package", "vendored"])
def source(request: pytest.FixtureRequest) -> str:
    """Where scripts take the utilities from."""
    chosen: str = request.param
    return chosen


@pytest.fixture
def ranks(cluster: Cluster, vendored_folder: Path, request: pytest.FixtureRequest) -> Ranks:
    """Runs the body of a script on some ranks, all of which have to succeed unless told otherwise.

    ``rt`` is the runtime, ``rank`` and ``world`` say where the script is.
    """
    vendor = "source" in request.fixturenames and request.getfixturevalue("source") == "vendored"
    runtime = "vendored_ranks" if vendor else "distlint.runtime"

    def run(
        body: str,
        ranks: int = 2,
        *,
        exits: tuple[int | None, ...] | None = None,
        limit: float = 20.0,
        init: bool = True,
        needs: tuple[str, ...] = (),
    ) -> Outcome:
        head = HEAD.format(folder=str(vendored_folder), runtime=runtime)
        if not init:
            head = head.partition("\ndist.init")[0] + "\n"
        outcome = cluster.run(head + textwrap.dedent(body), ranks=ranks, limit=limit, needs=needs)
        expected = exits if exits is not None else (0,) * ranks
        assert tuple(rank.exit for rank in outcome.ranks) == expected, str(outcome)
        return outcome

    return run
