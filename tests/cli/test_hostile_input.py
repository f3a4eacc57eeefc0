"""Files that no person wrote: a plain error names the file, and the others are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import BUGGY, Run

DEEP = "[" * 100_000
NINES = "9" * 6_000
NUMBERS = (
    NINES,
    f"-{NINES}",
    f"0x{'f' * 6_000}",
    f"{NINES}.5",
    "1e999999",
    "-1e999999",
    f"1{'0' * 400}",
)

CONFIG = """{"train_batch_size": %s, "steps_per_print": "%s", "fp16": {"loss_scale": %s},
    "zero_optimization": {"stage": %s, "reduce_bucket_size": %s, "overlap_comm": "%s"},
    "optimizer": {"type": "AdamW", "params": {"lr": %s, "betas": [%s, %s]}}}"""
ACCELERATE = """compute_environment: LOCAL_MACHINE
num_processes: %s
num_machines: "%s"
machine_rank: %s
deepspeed_config:
  zero_stage: %s
fsdp_config:
  fsdp_version: %s
"""
LAUNCH = """torchrun --nnodes=%s:%s --nproc-per-node=%s --node_rank=%s --master_port=%s train.py
accelerate launch --num_processes %s --main_process_port %s train.py
deepspeed --num_gpus=%s train.py
OMP_NUM_THREADS=%s PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:%s python train.py
"""
SCRIPT = """import os
import torch.distributed as dist
os.environ["OMP_NUM_THREADS"] = "%s"
os.environ["MASTER_PORT"] = str(%s)
dist.init_process_group("nccl", init_method="tcp://localhost:%s", world_size=%s)
group = dist.new_group([%s, 1])
for _ in range(%s):
    if dist.get_rank() == %s:
        dist.barrier(group)
"""


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: number[:8])
def test_numbers_out_of_range(project: Path, distlint: Run, number: str) -> None:
    for name, text in {
        "ds_config.json": CONFIG,
        "default_config.yaml": ACCELERATE,
        "launch.sh": LAUNCH,
        "Dockerfile": f"FROM x\nENV OMP_NUM_THREADS=%s\nCMD {LAUNCH.splitlines()[0]}\n",
        "big.py": SCRIPT,
        "requirements.txt": "torch==%s\ndeepspeed>=%s\naccelerate<%s.%s\n",
    }.items():
        (project / name).write_text(text.replace("%s", number))
    (project / "train.py").write_text(BUGGY)
    result = distlint("check", "--preview", "--no-cache", "--output-format", "concise")
    assert "internal error" not in result.stderr
    assert "raised" not in result.stderr
    assert result.returncode == 1
    assert "error[DST101]" in result.stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"x = {DEEP}", "nested too deeply"),
        (f"x = {'{a=' * 20_000}", "nested too deeply"),
        (f"max-file-size = {NINES}", "a number is too large"),
        (f"world = [{NINES}, 2]", "a number is too large"),
    ],
    ids=["lists", "tables", "size", "world"],
)
@pytest.mark.parametrize("name", ["distlint.toml", "pyproject.toml", "entries.toml"])
def test_toml(project: Path, distlint: Run, name: str, text: str, why: str) -> None:
    (project / "train.py").write_text(BUGGY)
    (project / name).write_text(f"[tool.distlint]\n{text}" if name == "pyproject.toml" else text)
    if name == "entries.toml":
        (project / "distlint.toml").write_text('catalogue = ["entries.toml"]')
    result = distlint("check", "train.py")
    assert result.returncode == 2
    assert "internal error" not in result.stderr
    assert name in result.stderr
    if name != "entries.toml":
        assert why in result.stderr


def _baseline(count: str) -> str:
    entry = f'{{"code": "DST101", "source": "x", "count": {count}}}'
    return f'{{"version": 1, "findings": {{"train.py": [{entry}]}}}}'


@pytest.mark.parametrize(
    "text",
    [
        DEEP,
        '{"a":' * 100_000,
        f'{{"version": {NINES}, "report": {NINES}}}',
        _baseline(NINES),
        _baseline("1e12"),
        _baseline("1" + "0" * 15),
    ],
    ids=["lists", "tables", "numbers", "long count", "float count", "count"],
)
def test_baselines_and_reports(project: Path, distlint: Run, text: str) -> None:
    (project / "train.py").write_text(BUGGY)
    (project / "given.json").write_text(text)
    for arguments in (("check", "train.py", "--baseline", "given.json"), ("merge", "given.json")):
        result = distlint(*arguments)
        assert result.returncode == 2
        assert "given.json: " in result.stderr
        assert "internal error" not in result.stderr


@pytest.mark.parametrize(
    "name", ["ds_config.json", "default_config.yaml", "a.ipynb", "a.sh", "a.py"]
)
def test_deep_files(project: Path, distlint: Run, name: str) -> None:
    head = '{"zero_optimization": ' if name.endswith("json") else "num_processes: "
    head = "torchrun " + "$(" * 5_000 if name == "a.sh" else head
    head = "import torch.distributed as dist\nx = " if name == "a.py" else head
    (project / name).write_text(head + DEEP[:20_000])
    (project / "train.py").write_text(BUGGY)
    result = distlint("check", ".", name, "--output-format", "concise", "--no-cache")
    assert "internal error" not in result.stderr
    assert "error[DST101]" in result.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            ("check", "-j", NINES),
            ("check", "--shard", f"1/{NINES}"),
            ("check", "--shard", f"{NINES}/2"),
        ),
        *(("trace", "train.py", "--ranks", NINES), ("run", "-n", NINES, "train.py")),
    ],
)
def test_numbers_of_options(project: Path, distlint: Run, arguments: tuple[str, ...]) -> None:
    (project / "train.py").write_text(BUGGY)
    result = distlint(*arguments)
    assert result.returncode == 2
    assert "invalid " in result.stderr
    assert len(result.stderr) < 2_000


def test_the_environment_of_the_doctor(
    project: Path, distlint: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_PORT"):
        monkeypatch.setenv(name, NINES)
    for name in ("CUDA_VISIBLE_DEVICES", "NCCL_IB_TIMEOUT", "OMP_NUM_THREADS"):
        monkeypatch.setenv(name, f"0,{NINES}" if name.startswith("CUDA") else NINES)
    assert "internal error" not in distlint("doctor", "--connect", f"localhost:{NINES}").stderr
