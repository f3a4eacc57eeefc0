"""What a report hides."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.doctor.machine import Check, Machine
from distlint.doctor.report import bundle
from distlint.doctor.secrets import HIDDEN, masked, masked_text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WANDB_API_KEY", "1f2e"),
        ("HF_TOKEN", "x"),
        ("DB_PASSWORD", "x"),
        ("AWS_SECRET_ACCESS_KEY", "x"),
        ("NCCL_NOTE", "hf_abcdefghijklmnop"),
        ("NCCL_NOTE", "ghp_abcdefghijklmnop"),
        ("NCCL_NOTE", "nvapi-abcdefghijklmnop"),
        ("NCCL_NOTE", "AKIAABCDEFGHIJKLMNOP"),
        ("NCCL_NOTE", "0123456789abcdef0123456789abcdef01234567"),
    ],
)
def test_secrets_are_masked(name: str, value: str) -> None:
    assert masked(name, value) == HIDDEN


def test_logins_and_options() -> None:
    assert masked_text("http://me:pw@proxy:3128/x") == f"http://{HIDDEN}@proxy:3128/x"
    assert masked_text("python train.py --api-key=abc --lr 1") == (
        f"python train.py --api-key={HIDDEN} --lr 1"
    )
    assert masked_text("http://me:p@s/s@proxy:3128") == f"http://{HIDDEN}@proxy:3128"
    assert masked_text("AWS_SECRET_ACCESS_KEY=abc python train.py") == (
        f"AWS_SECRET_ACCESS_KEY={HIDDEN} python train.py"
    )
    assert masked_text('{"token": "abc"}') == f'{{"token": {HIDDEN}'
    assert masked_text("-H 'Authorization: Bearer abc'") == f"-H 'Authorization: Bearer {HIDDEN}"
    assert masked_text(f"{Path.home()}/run") == "~/run"


@pytest.mark.parametrize(
    "text",
    [
        *("NCCL_SOCKET_IFNAME=eth0", "torch 2.13.0+cu130", "node-17.local"),
        *("KeyError: 'labels'", "wait timeout after 300ms, keys: /worker/0"),
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert masked_text(text) == text


def test_the_report() -> None:
    environment = {
        "NCCL_DEBUG": "INFO",
        "SLURM_JWT_TOKEN": "hush",
        "WANDB_API_KEY": "hush",
        "PATH": "",
    }
    text = bundle([Check("port", "warning", "x", "taken by --token hush")], Machine(environment))
    assert "hush" not in text
    assert "NCCL_DEBUG: INFO" in text
    assert f"SLURM_JWT_TOKEN: {HIDDEN}" in text
    assert "WANDB" not in text
