"""One cluster for the whole test run, which works ahead of the tests that read its outcomes.

A test with a parameter ``case`` is given what became of it as ``outcome``.

With pytest-xdist, the first worker runs it and the others read the outcomes that it writes.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from distlint.harness.cluster import Cluster, Outcome, missing
from tests.executed.cases import Case

LIMIT = 300.0  # seconds for an outcome, the scripts queued before it included
FIRST = "gw0"
RUNNING = pytest.StashKey["Executor"]()


class Executor:
    """Runs the cases that this test run selected.

    Those that need a framework come last, so that the others run while nothing is imported.
    """

    def __init__(self, cases: dict[str, Case], folder: Path | None) -> None:
        self._folder = folder
        self._cluster = Cluster()
        self._futures = {
            case.label: self._submitted(case)
            for case in sorted(cases.values(), key=lambda case: (case.needs, case.label))
        }

    def _submitted(self, case: Case) -> Future[Outcome]:
        future = self._cluster.submit(
            case.source,
            ranks=case.ranks,
            needs=case.needs,
            name=case.code.lower(),
            limit=case.limit,
        )
        if self._folder is not None:
            future.add_done_callback(_writer(_path(self._folder, case)))
        return future

    def outcome(self, case: Case) -> Outcome:
        return self._futures[case.label].result(LIMIT)

    def close(self, *, wait: bool) -> None:
        for future in self._futures.values() if wait else ():
            future.exception(LIMIT)
        self._cluster.__exit__(None, None, None)


def _writer(path: Path) -> Callable[[Future[Outcome]], None]:
    def write(future: Future[Outcome]) -> None:
        if future.exception() is None:
            part = path.with_suffix(".part")
            part.write_bytes(pickle.dumps(future.result()))
            os.replace(part, path)

    return write


def _path(folder: Path, case: Case) -> Path:
    digest = hashlib.sha256(case.label.encode()).hexdigest()
    return folder / f"{digest[:32]}.pickle"


def _written(path: Path) -> Outcome:
    """What the first worker writes to a path, sooner or later."""
    end = time.monotonic() + LIMIT
    while not path.exists():
        assert time.monotonic() < end, f"no outcome in {path.name}"
        time.sleep(0.05)
    outcome = pickle.loads(path.read_bytes())
    assert isinstance(outcome, Outcome)
    return outcome


def _worker(config: pytest.Config) -> str | None:
    """The name of this worker of pytest-xdist, if it is one."""
    name: str | None = getattr(config, "workerinput", {}).get("workerid")
    return name


def _shared(config: pytest.Config) -> Path:
    """A folder of this test run that its workers share."""
    factory: pytest.TempPathFactory = config._tmp_path_factory  # type: ignore[attr-defined]
    folder = factory.getbasetemp().parent / "outcomes"
    folder.mkdir(exist_ok=True)
    return folder


def _case(item: pytest.Item) -> Case | None:
    case = getattr(getattr(item, "callspec", None), "params", {}).get("case")
    return case if isinstance(case, Case) and case.runs else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits for outcomes comes last: most of them are there by then."""
    items.sort(key=lambda item: _case(item) is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    cases = {
        case.label: case
        for case in map(_case, session.items)
        if case is not None and missing(case.needs) is None
    }
    worker = _worker(session.config)
    if cases and not session.config.option.collectonly and worker in {None, FIRST}:
        folder = _shared(session.config) if worker is not None else None
        session.config.stash[RUNNING] = Executor(cases, folder)


def pytest_sessionfinish(session: pytest.Session) -> None:
    executor = session.config.stash.get(RUNNING, None)
    if executor is not None:
        executor.close(wait=not (session.shouldstop or session.shouldfail))


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"scripts are executed under torch.distributed, and {reason}")
    with Cluster() as running:
        yield running


@pytest.fixture
def outcome(case: Case, request: pytest.FixtureRequest) -> Outcome:
    """What became of the case of this test."""
    reason = missing(case.needs)
    if reason is not None:
        pytest.skip(f"needs {', '.join(case.needs)}: {reason}")
    executor = request.config.stash.get(RUNNING, None)
    if executor is not None:
        return executor.outcome(case)
    return _written(_path(_shared(request.config), case))
