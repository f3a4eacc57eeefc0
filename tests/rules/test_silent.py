"""Legitimate code on which an earlier version raised a false alarm: nothing is reported."""

from __future__ import annotations

import pytest

from tests.rules.scripts import Script, scripts
from tests.support import findings


@pytest.mark.parametrize("script", scripts("silent"), ids=lambda script: script.name)
def test_nothing_is_reported(script: Script) -> None:
    assert findings(script.source) == []
