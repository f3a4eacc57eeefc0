"""Which version of a library counts, and what the recorded data hold."""

from __future__ import annotations

import pytest

from distlint.catalogue.settings import (
    Accelerate,
    DeepSpeed,
    admitted,
    launcher_options,
    nearest,
    variables,
)

SCANNED = ["0.14.4", "0.16.9", "0.18.9", "0.19.8"]


@pytest.mark.parametrize(
    ("bounds", "versions"),
    [
        ((), SCANNED),
        (("==0.16.9",), ["0.16.9"]),
        (("==0.17.2",), ["0.16.9", "0.18.9"]),
        ((">=0.17",), ["0.16.9", "0.18.9", "0.19.8"]),
        (("<0.16",), ["0.14.4", "0.16.9"]),
        (("~=0.18.1",), ["0.16.9", "0.18.9", "0.19.8"]),
        ((">=0.20",), ["0.19.8"]),
        (("==0.9.2",), ["0.14.4"]),
        (("!=0.16.9",), SCANNED),
    ],
)
def test_versions_that_requirements_admit(bounds: tuple[str, ...], versions: list[str]) -> None:
    assert admitted(SCANNED, bounds) == versions


def test_a_key_is_known_if_any_version_that_may_run_knows_it() -> None:
    assert DeepSpeed().knows(("torch_autocast",))
    assert DeepSpeed(("==0.14.4",)).entries(("amp",))
    assert DeepSpeed(("==0.19.8",)).removal(("amp",))
    assert not DeepSpeed(("==0.18.9",)).removal(("amp",))
    assert not DeepSpeed().knows(("communication_backend",))
    assert DeepSpeed().knows(("zero_optimization", "gather_16bit_weights_on_model_save"))
    assert DeepSpeed().keys(("optimizer", "params")) == []


def test_the_data_hold_what_is_there_today() -> None:
    assert "parallelism_config" in Accelerate().values("keys")
    assert "parallelism_config" not in Accelerate(("==0.21.0",)).values("keys")
    assert launcher_options("torchrun")["--nproc-per-node"] == "1"
    assert launcher_options("launch")["--use_env"] == "0"
    assert launcher_options("deepspeed")["--num_gpus"] == "1"
    assert variables()["NCCL_IB_TIMEOUT"]["max"] == 31


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("overlap_com", "overlap_comm"),
        ("ovrelap_comm", "overlap_comm"),
        ("xyz", None),
        ("ab", None),
    ],
)
def test_the_nearest_word(word: str, found: str | None) -> None:
    assert nearest(word, ["overlap_comm", "overlap", "ac", "ad"], 2) == found
