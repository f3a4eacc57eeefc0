"""Legitimate code on which an earlier version raised a false alarm: nothing is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from distlint.engine.run import check_paths
from distlint.engine.settings import Overrides, Resolver
from distlint.source.finding import Severity
from tests.rules.scripts import Script, scripts
from tests.support import about_hangs, findings, found_in


@pytest.mark.parametrize("script", scripts("silent"), ids=lambda script: script.name)
def test_nothing_is_reported(script: Script) -> None:
    assert findings(script.source, preview=False) == []


ON_ONE_NODE = """\
import os

import torch.distributed as dist

dist.init_process_group("gloo")
if os.path.exists("cache.pt"):
    dist.barrier()
dist.destroy_process_group()
"""


def test_a_file_that_may_be_on_one_node_only_is_for_preview(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(ON_ONE_NODE)
    assert check_paths([script], Resolver()).findings == ()
    shown = check_paths([script], Resolver(Overrides(preview=True))).findings
    assert [finding.code for finding in shown] == ["DST103"]


CTRL_C = """\
from pytorch_lightning import Callback


class Keep(Callback):
    def on_keyboard_interrupt(self, trainer, model):
        if trainer.global_rank == 0:
            trainer.save_checkpoint("last.ckpt")
"""


@pytest.mark.parametrize(
    ("asks", "codes"),
    [("pytorch-lightning>=1.6", []), ("pytorch-lightning==1.4.2", ["DST407"])],
)
def test_a_hook_that_lightning_calls_no_more_does_no_harm(
    tmp_path: Path, asks: str, codes: list[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(asks + "\n")
    script = tmp_path / "script.py"
    script.write_text(CTRL_C)
    assert [each.code for each in check_paths([script], Resolver()).findings] == codes


SAVE = """\
from pytorch_lightning import Trainer


def main(model, data):
    trainer = Trainer(devices=2)
    trainer.fit(model, data)
    if trainer.global_rank == 0:
        trainer.save_checkpoint("last.ckpt")
"""


@pytest.mark.parametrize(
    ("asks", "severity"),
    [("pytorch-lightning", Severity.ERROR), ("pytorch-lightning<2.1", Severity.INFO)],
)
def test_a_save_of_lightning_has_a_barrier_under_all_strategies_since_2_1(
    tmp_path: Path, asks: str, severity: Severity
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(asks + "\n")
    script = tmp_path / "script.py"
    script.write_text(SAVE)
    (finding,) = check_paths([script], Resolver()).findings
    assert (finding.code, finding.severity) == ("DST407", severity)


@pytest.mark.parametrize(
    ("nearest", "above", "codes"),
    [
        ("accelerate", "accelerate==0.18.0", []),
        ("accelerate>=0.30", "accelerate==0.18.0", ["DST107"]),
        ("accelerate", "accelerate", ["DST107"]),
        ("torch==2.1", "accelerate<0.20", []),
    ],
)
def test_a_version_further_up_counts_where_the_nearest_file_gives_none(
    tmp_path: Path, nearest: str, above: str, codes: list[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(above + "\n")
    script = tmp_path / "examples" / "script.py"
    script.parent.mkdir()
    script.with_name("requirements.txt").write_text(nearest + "\n")
    script.write_text("from accelerate import Accelerator\n\nAccelerator(logging_dir='logs')\n")
    assert [each.code for each in check_paths([script], Resolver()).findings] == codes


def test_a_batch_may_be_none_on_one_rank_inside_of_the_loop() -> None:
    source = next(each for each in scripts("silent") if each.name == "was_there_a_batch").source
    loop = "    for batch in loader:\n"
    skips = source.replace(loop, f"{loop}        if batch is None:\n            continue\n")
    assert about_hangs(findings(skips)) == [(13, "DST117")]


def test_data_that_may_differ_on_ranks_of_one_model_is_for_preview() -> None:
    source = next(each for each in scripts("silent") if each.name == "request_to_a_pipeline").source
    assert about_hangs(findings(source)) == [(15, "DST109")]
    everywhere = source.replace("group=parallel_state.get_pipeline_model_parallel_group(),", "")
    assert about_hangs(findings(everywhere, preview=False)) == [(15, "DST109")]


def test_nothing_is_reported_behind_a_raise_on_all_ranks() -> None:
    """Whatever the option says, no rank comes to the collective."""
    script = """\
import argparse
import random

import torch.distributed as dist

args = argparse.ArgumentParser().parse_args()
if not args.final_eval or args.final_eval:
    raise RuntimeError("unexpected")
if random.random() > 0.9:
    dist.barrier()
"""
    assert about_hangs(findings(script)) == []


@pytest.mark.parametrize(
    ("raised", "handler", "found"),
    [
        ("raise RuntimeError('empty')", "except ValueError:", []),
        ("assert args.debug", "except (OSError, ValueError):", []),
        ("raise ValueError('empty')", "except ValueError:", ["DST101"]),
        ("raise ConnectionError('gone')", "except OSError:", ["DST101"]),
        ("raise errors.Empty('empty')", "except ValueError:", ["DST101"]),
    ],
    ids=["other class", "assert", "same class", "class above", "class not known"],
)
def test_only_an_exception_that_is_caught_lets_a_rank_go_on(
    raised: str, handler: str, found: list[str]
) -> None:
    script = f"""\
import errors
import torch.distributed as dist

def main(args):
    try:
        if dist.get_rank() == 0:
            {raised}
    {handler}
        return
    dist.barrier()
"""
    assert [code for _, code in about_hangs(findings(script))] == found


def test_a_process_state_made_on_first_use_is_one() -> None:
    script = """\
from accelerate import PartialState
import torch.distributed as dist

STATE = None

def is_distributed():
    global STATE
    if STATE is None:
        try:
            STATE = PartialState()
        except ValueError:
            pass
    return STATE is not None and STATE.use_distributed and STATE.initialized

def barrier():
    if is_distributed():
        dist.barrier()

def first(is_main_process):
    if not is_main_process:
        barrier()
    yield
    if is_main_process:
        barrier()
"""
    assert about_hangs(findings(script)) == []


def test_a_rank_whose_failure_is_swallowed_before_a_raise_goes_on() -> None:
    script = """\
import torch.distributed as dist
from project.data import load_shard

def main(rank):
    try:
        load_shard(rank)
        raise ValueError("bad")
    except OSError:
        pass
    if rank < 2:
        dist.barrier()
"""
    assert [code for _, code in about_hangs(findings(script))] == ["DST101"]


def test_a_part_of_a_tensor_is_a_tensor() -> None:
    script = """\
import torch
import torch.distributed as dist

def split(inputs, length):
    rank, size = dist.get_rank(), dist.get_world_size()
    start = rank * length
    part = inputs[-1:] if start >= len(inputs) else inputs[start : start + length]
    if isinstance(part, torch.Tensor):
        dist.all_reduce(part)
    return part
"""
    assert about_hangs(findings(script)) == []


def test_a_probe_of_the_installation_comes_out_alike_on_all_ranks() -> None:
    script = """\
import torch.distributed as dist
import accelerator_library

def is_accelerator_available():
    try:
        accelerator_library.open_first()
        return True
    except RuntimeError:
        return False

def main():
    if is_accelerator_available():
        dist.barrier()
"""
    assert about_hangs(findings(script)) == []
    assert about_hangs(findings(script.replace("_available", "_ready"))) != []


def test_a_context_that_is_left_by_an_error_knows_of_it() -> None:
    script = """\
import torch
import torch.distributed as dist

class Signals:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            dist.all_reduce(torch.zeros(1))

def main():
    with Signals():
        if dist.get_rank() == 0:
            raise ValueError("no data")
        dist.barrier()
"""
    assert about_hangs(findings(script)) == []
    blind = script.replace("if kind is None:", "if True:")
    assert [code for _, code in about_hangs(findings(blind))] == ["DST101"]


@pytest.mark.parametrize(
    ("argument", "severity"), [("", "error"), (", broadcast_buffers=options.buffers", "info")]
)
def test_whether_a_forward_communicates_may_be_left_open(argument: str, severity: str) -> None:
    script = f"""\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3)

def main(options, loader):
    model = DDP(Net(){argument})
    if dist.get_rank() == 0:
        model(next(loader))
    dist.barrier()
"""
    hangs = [each for each in found_in(script) if each.code == "DST115"]
    assert [each.severity.value for each in hangs] == [severity]


SAVER = """\
import sys

import torch.distributed as dist


class Saver:
    def save(self):
        if dist.get_rank() == 0:
            dist.barrier()


dist.init_process_group("gloo")
if dist.get_rank() == 0:
    print("begins")
{end}
Saver().save()
dist.destroy_process_group()
"""


@pytest.mark.parametrize(
    ("end", "codes"),
    [
        ("sys.exit(1)", []),
        ("raise ValueError('bad')", []),
        ("sys.exit(main())", ["DST101"]),  # which may have made a Saver
        ("dist.barrier()", ["DST101"]),
    ],
)
def test_what_a_script_never_comes_to(end: str, codes: list[str]) -> None:
    found = [each.code for each in found_in(SAVER.format(end=end))]
    assert [code for code in found if code == "DST101"] == codes
