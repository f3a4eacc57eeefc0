"""One cluster for the whole session, which works ahead of the tests that read its outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from distlint.harness.cluster import Cluster, Outcome, missing
from tests.executed.cases import Case


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    reason = missing()
    if reason is not None:
        pytest.skip(f"scripts are executed under torch.distributed, and {reason}")
    with Cluster() as running:
        yield running


@pytest.fixture(scope="session")
def outcomes(request: pytest.FixtureRequest, cluster: Cluster) -> dict[str, Future[Outcome]]:
    """A future for each case that this test run selected, all of them queued at once.

    Scripts that need a framework come last, so that the others run while nothing is imported.
    """
    cases = {
        case.label: case
        for item in request.session.items
        for case in getattr(getattr(item, "callspec", None), "params", {}).values()
        if isinstance(case, Case) and case.runs and missing(case.needs) is None
    }
    return {
        case.label: cluster.submit(
            case.source, ranks=case.ranks, needs=case.needs, name=case.code.lower()
        )
        for case in sorted(cases.values(), key=lambda case: (case.needs, case.label))
    }


@pytest.fixture
def outcome(case: Case, outcomes: dict[str, Future[Outcome]]) -> Outcome:
    """What became of the case of this test."""
    reason = missing(case.needs)
    if reason is not None:
        pytest.skip(f"needs {', '.join(case.needs)}: {reason}")
    return outcomes[case.label].result(timeout=300)
