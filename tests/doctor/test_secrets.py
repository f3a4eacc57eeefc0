"""What a report hides."""

from __future__ import annotations

import time
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
    assert masked_text('{"token": "abc"}') == f'{{"token": {HIDDEN}}}'
    assert masked_text("-H 'Authorization: Bearer abc'") == f"-H 'Authorization: Bearer {HIDDEN}'"
    assert masked_text(f"{Path.home()}/run") == "~/run"


@pytest.mark.parametrize(
    "text",
    [
        *("NCCL_SOCKET_IFNAME=eth0", "torch 2.13.0+cu130", "node-17.local"),
        *("KeyError: 'labels'", "wait timeout after 300ms, keys: /worker/0"),
        *(
            "10.0.0.1:29500",
            "git@host:lab/repo.git",
            "mlx5_0:1,mlx5_1:1",
            "the basic settings of it",
        ),
        *(
            "author",
            "key: /worker/0",
            "TypeError: unexpected keyword",
            "c10::auth::Store",
            "é, 日本",
        ),
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert masked_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *("user:hush@host", "user:hu@hush@host:29500", "x,url=user:hush@10.0.0.1", "u:hush@[::1]"),
        *("u:hush@h,tcp://v:hush@h", "tcp://v:hush@h", "postgres://u:hush@h/db"),
        *(
            "secret_key: hush",
            "password: hush hush",
            "api-key : hush",
            "apiKey: hush",
            "Token:hush",
        ),
        *(
            "secret_key = hush",
            "password := hush",
            "token => hush",
            "AUTH_TOKEN=hush",
            "pass: hush",
        ),
        *("access_key_id: hush", "key='a hush'", 'token="x \\"hush"', "token='never closed hush"),
        *("token: |\n  hush\n  hush", "secret: >-\n\thush", "'password=the hush'", "--pass hush"),
        *(
            "Bearer hush",
            "bearer hush",
            "x=Bearer hush",
            "Basic dXNlcjpodXNo",
            "--auth-token  hush",
        ),
        *("Authorization: Digest a=hush, b=hush", "Cookie: a=b; hush", "authorization: token hush"),
        *('{"password": "a hush"}', '{\\"token\\": \\"a hush\\"}', "{token: hush}"),
        *("hf_hushhushhush", "\x1b[31mhf_hushhushhush\x1b[0m", "eyJhushhushhush.hushhush.hush"),
        "-----BEGIN RSA PRIVATE KEY-----\nhush\nhush\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nhush",
    ],
)
def test_kinds_of_secrets(text: str) -> None:
    for told in (text, f"(before) {text}", f"line\n{text}\nline"):
        shown = masked_text(told)
        assert "hush" not in shown
        assert "dXNlcjpodXNo" not in shown
        assert HIDDEN in shown


def test_what_stands_around_a_secret_stays() -> None:
    told = "a\nurl=user:pw@host:80 --lr 1\npassword: x y\n--token 'p q' --lr 2"
    assert masked_text(told) == (
        f"a\nurl={HIDDEN}@host:80 --lr 1\npassword: {HIDDEN}\n--token {HIDDEN} --lr 2"
    )


UNITS = (
    *(
        "-key",
        "A",
        "=_",
        "key:",
        "key=",
        "key ",
        "--key ",
        "'key: ",
        'key="',
        '"key":"',
        '\\"key\\":\\"',
    ),
    *(
        "://",
        "a:b@",
        "@",
        ":",
        "eyJ",
        "-eyJaaaaaaaa",
        "-eyJaaaaaaaa.",
        "hf_",
        "0",
        "\n",
        "\0",
        "\x1b[",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "authorization: bearer ",
        "basic ",
        "token: |\n",
    ),
)


def test_masking_takes_time_in_proportion_to_the_length() -> None:
    def seconds(length: int) -> float:
        texts = [unit * (length // len(unit)) for unit in UNITS]
        start = time.process_time()
        for text in (
            *texts,
            *(f"token: {text}@h" for text in texts),
            *(f'key="{t}' for t in texts),
        ):
            masked("NCCL_NOTE", text)
        return time.process_time() - start

    assert seconds(20_000) < 5  # quadratic: minutes


@pytest.mark.parametrize("value", ["a\x1b[2Jb", "a\x07\x9b1mb", "a\u202eb", "a\udc80b", "a\rb\x7f"])
def test_a_report_keeps_no_control_characters(value: str) -> None:
    row = Check("port", "warning", value, value, value)
    text = bundle([row], Machine({"NCCL_NOTE": value}))
    assert text.replace("\n", "").isprintable()
    text.encode("utf-8")


def test_a_value_cannot_end_its_block() -> None:
    value = "x\n```\n# forged\n````"
    text = bundle([], Machine({"NCCL_NOTE": value}))
    assert "\n`````\nNCCL_NOTE: x\n    ```\n    # forged\n    ````\n`````" in text


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
