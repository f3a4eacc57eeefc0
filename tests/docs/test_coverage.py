"""What covers the guides: every row of them is in the tables, and links to what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from distlint import runtime
from distlint.diagnose.signatures import signatures
from distlint.rules.registry import rules
from tests.docs.test_comparison import names_in
from tests.support import ROOT, anchors, findings

PAGE = ROOT / "benchmarks" / "results" / "2026-11-22-guides.md"
DOCS = "../../docs/"
ROWS = {"S0": 19, "S1": 25, "S2": 71, "S3": 42, "S4": 46}
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def rows() -> list[list[str]]:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| S")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


each_row = pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])


def test_every_row_of_the_guides_is_there_once() -> None:
    expected = [f"{guide}-{n:02}" for guide, count in ROWS.items() for n in range(1, count + 1)]
    assert [row[0] for row in rows()] == expected
    assert all(len(row) == 3 and all(row) for row in rows())


def checks_of_doctor() -> set[str]:
    table = re.findall(r"^\| (`[^|]*`) \|", (ROOT / "docs/doctor.md").read_text("utf-8"), re.M)
    return set(re.findall(r"`([^`]+)`", " ".join(table)))


@each_row
def test_it_names_what_covers_it_or_why_not(row: list[str]) -> None:
    text = row[2].partition(" <!-- ")[0]
    assert LINK.search(text) or re.match(r"not covered: \w+", text)
    # A code or name without its link would escape the tests below.
    assert not re.search(r"DST\d|\b(doctor|runtime|diagnose) `", LINK.sub("", text))


@each_row
def test_what_it_names_exists(row: list[str]) -> None:
    for text, target in LINK.findall(row[2]):
        file, _, anchor = target.removeprefix(DOCS).partition("#")
        page = ROOT / "docs" / file
        assert target.startswith(DOCS), target
        assert page.is_file(), target
        assert not anchor or anchor in anchors(page), target
        name = text.strip("`")
        if file.startswith("rules/"):
            assert rules()[name].name == Path(file).stem
        elif not text.startswith("`"):
            continue
        elif file == "runtime.md":
            assert name in dir(runtime), name
        elif file == "diagnose.md":
            invented = signatures()[name].role == "invented"
            assert invented == (anchor == "messages-that-do-not-exist"), name
        else:
            assert file == "doctor.md"
            assert name in checks_of_doctor(), name


@each_row
def test_its_tests_exist(row: list[str]) -> None:
    text, _, comment = row[2].removesuffix(" -->").partition(" <!-- ")
    assert comment or not re.search(rf"\[`|\]\({DOCS}(diagnose|doctor)\.md", text), (
        "no test is named"
    )
    for name in comment.split():
        file, _, test = name.partition("::")
        assert test.startswith("test_")
        assert test in names_in(file), name


LINES = {
    "S0-09": ("ACCELERATE_DEBUG_MODE=1", "DST825"),
    "S1-03": ("ACCELERATE_LOG_LEVEL=LOUD", "DST822"),
    "S2-15": ("NCCL_P2P_DISABLE=1", "DST826"),
    "S2-22": ("NCCL_ASYNC_ERROR_HANDLING=1", "DST821"),
    "S2-23": ("NCCL_MIN_NRINGS=4", "DST821"),
    "S2-46": ("NCCL_NET_GDR_LEVEL=4", "DST822"),
    "S2-47": ("NCCL_IB_HCA=mlx5", "DST826"),
    "S2-48": ("NCCL_IB_SL=5", "DST826"),
    "S2-57": ("DS_ACCELERATOR=gpu", "DST822"),
    "S2-58": ("DS_ACCELERATORATOR=cuda", "DST820"),
    "S2-59": ("NCCL_DEBUG=INFO", "DST825"),
    "S2-62": ("NCCL_IB_DISABLE=0", "DST827"),
    "S3-03": ("TORCH_DISTRIBUTED_DEBUG=DETAIL", "DST825"),
    "S3-10": ("NCCL_IB_TIMEOUT=1000", "DST822"),
    "S3-11": ("NCCL_DEBUG_SUBSYS=COLLS", "DST822"),
    "S3-30": ("CUDA_MEMORY_FRACTION=0.9", "DST820"),
    "S3-33": ("NCCL_SOCKET_IFNAME=eth0", "DST826"),
    "S3-34": ("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:10", "DST823"),
    "S4-23": ("NCCL_DEBUG_SUBSYS=ALL", "DST825"),
    "S4-24": ("NCCL_TIMEOUT=300", "DST820"),
    "S4-30": ("NCCL_IB_DISABLE=1", "DST826"),
    "S2-02": ("torchrun --nnodes=2 --node_rank=1 --master_addr=localhost train.py", "DST824"),
    "S2-61": ("CUDA_VISIBLE_DEVICES=0,1 torchrun --nproc_per_node=4 train.py", "DST824"),
    "S3-24": ("pkill -f torchrun", "DST829"),
    "S3-26": ("torchrun --master-port=29501 --standalone train.py", "DST824"),
    "S4-28": ('torchrun --nproc_per_node=2 -c "import torch"', "DST828"),
}
SECTIONS = {
    "S2-17": ('"communication_backend": {"name": "nccl", "timeout": 10}', "DST801"),
    "S2-21": ('"communication": {"compression": {"enabled": true}}', "DST801"),
    "S2-27": ('"timeout": {"grad_sync_timeout": 3}', "DST801"),
    "S2-35": (
        '"zero_optimization": {"stage": 3, "gather_16bit_weights_on_model_save": true}',
        "DST814",
    ),
    "S2-38": ('"checkpointing": {"save_checkpoint_limit": 3}', "DST801"),
    "S2-44": ('"zero_optimization": {"stage": 3, "override_module_apply": true}', "DST810"),
    "S2-64": ('"logging": {"level": "debug"}', "DST801"),
    "S2-67": ('"zero_optimization": {"stage": 1, "cpu_offload": false}', "DST803"),
}
PYTHON = {
    "S0-05": (
        "from accelerate import Accelerator\nfrom accelerate.logging import get_logger\n"
        "a = Accelerator()\nlogger = get_logger(__name__)\n"
        "if a.is_main_process:\n    logger.info('x', in_order=True)\n",
        "DST101",
    ),
    "S0-06": (
        "from accelerate import Accelerator\nfrom accelerate.logging import get_logger\n"
        "logger = get_logger(__name__)\nlogger.info('x')\na = Accelerator()\n",
        "DST904",
    ),
    "S1-11": (
        "from accelerate import Accelerator\na = Accelerator()\na.set_breakpoint()\n",
        "DST107",
    ),
    "S2-33": ("import torch\nx = torch.load('c/step_*/d.pt', map_location='cpu')\n", "DST412"),
    "S4-26": (
        "import torch.distributed as dist\n\ndef f(x):\n"
        "    if dist.get_rank() == 0:\n        dist.all_reduce(x)\n",
        "DST101",
    ),
    "S4-37": ("import torch\ntorch._dynamo.config.suppress_errors = True\n", "DST702"),
    "S4-44": (
        "import torch\n\ndef f(x):\n    return torch.exp(x) / torch.exp(x).sum(-1, keepdim=True)\n",
        "DST601",
    ),
    "S4-45": (
        "import torch\nimport torch.nn.functional as F\n\ndef f(x):\n"
        "    return torch.log(F.softmax(x, dim=1))\n",
        "DST602",
    ),
}


def configuration(part: str) -> str:
    return f'{{"train_batch_size": 32, {part}}}\n'


@pytest.mark.parametrize("row", [*LINES, *SECTIONS, *PYTHON])
def test_what_the_row_is_about_is_reported(row: str) -> None:
    if row in LINES:
        line, code = LINES[row]
        start = "export " if re.match(r"\w+=\S*$", line) else ""
        found = findings(f"{start}{line}\ntorchrun --nproc_per_node=2 train.py\n", "run.sh")
    elif row in PYTHON:
        source, code = PYTHON[row]
        found = findings(source)
    else:
        part, code = SECTIONS[row]
        found = findings(configuration(part), "ds_config.json")
    assert [found_code for _, found_code in found] == [code]
    assert f"[{code}]" in next(cells[2] for cells in rows() if cells[0] == row)


@pytest.mark.parametrize(
    "part",
    [
        '"zero_optimization": {"stage": 2, "reduce_bucket_size": 2e8}',
        '"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", '
        '"pin_memory": true}, "offload_param": {"device": "cpu", "pin_memory": true}}',
    ],
)
def test_valid_settings_are_silent(part: str) -> None:
    assert findings(configuration(part), "ds_config.json") == []
