"""Files that ranks share: what keeps the rules quiet, and what does not."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from distlint.engine.trial import marks as expected
from tests.rules.test_source_rules import asked, reported

HEAD = """\
import os
import shutil
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

"""


def check(body: str, code: str) -> None:
    source = HEAD + dedent(body).lstrip("\n")
    assert reported(source, code) == expected(source)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            def main(rank):
                save = rank == 0
                if save:
                    torch.save({}, "a.pt")
            """,
            id="a flag made from the rank",
        ),
        pytest.param(
            """
            def main(loss):
                if loss == "multiple_negatives_ranking_loss":
                    print(loss)
                torch.save({}, "a.pt")
            """,
            id="a ranking is no rank",
        ),
        pytest.param(
            """
            class Trainer(Base):
                def train(self):
                    dist.barrier()
                    self.save()

                def save(self):
                    if self.args.should_save:
                        torch.save({}, "a.pt")
            """,
            id="the arguments of a Trainer say who saves",
        ),
        pytest.param(
            """
            class Trainer:
                def __init__(self, rank, writes):
                    self.rank = rank
                    self.writes = writes

                def save(self):
                    if self.writes:
                        torch.save({}, "a.pt")

            def main(rank):
                dist.init_process_group("nccl")
                Trainer(rank, rank == 0).save()
            """,
            id="a flag that the object was given",
        ),
        pytest.param(
            """
            def only_rank_zero(function):
                def wrapped(*args):
                    if dist.get_rank() == 0:
                        return function(*args)
                return wrapped

            @only_rank_zero
            def save():
                torch.save({}, "a.pt")

            def main():
                dist.init_process_group("nccl")
                save()
            """,
            id="a decorator of the file's own",
        ),
        pytest.param(
            """
            def main(rank):
                for epoch in range(3):
                    if rank != 0:
                        continue
                    torch.save({}, f"{epoch}.pt")
            """,
            id="the other ranks go on to the next turn",
        ),
        pytest.param(
            """
            def main(rank):
                torch.save({}, "a.pt") if rank == 0 else None
            """,
            id="on one line",
        ),
        pytest.param(
            """
            def main(args, gpu):
                dist.init_process_group("nccl")
                args.out = os.path.join(args.out, f"rank{dist.get_rank()}")
                torch.save({}, os.path.join(args.out, "a.pt"))
            """,
            id="a folder with the rank in it",
        ),
        pytest.param(
            """
            def main(args, rank):
                if not args.distributed:
                    torch.save({}, "a.pt")
            """,
            id="a branch for one process",
        ),
        pytest.param(
            """
            def export(model, path):
                torch.save(model.state_dict(), path)
            """,
            id="a helper that nothing in the file calls",
        ),
        pytest.param(
            """
            def main(rank):
                dist.init_process_group("nccl")
                if rank != 0:
                    dist.barrier()
                torch.save({}, "a.pt")
                if rank == 0:
                    dist.barrier()
            """,
            id="one rank after the other",
        ),
        pytest.param(
            """
            def keep(state, path, old):
                torch.save(state, path)
                if dist.get_rank() == 0 and os.path.exists(old):
                    os.remove(old)
            """,
            id="for other files, which may call it on rank 0 only",
        ),
        pytest.param(
            """
            def keep(state, path, old):
                torch.save(state, path)
                first = dist.get_rank() == 0
                if first and os.path.exists(old):
                    os.remove(old)
            """,
            id="for other files, with a flag",
        ),
        pytest.param(
            """
            def keep(state, path, old):
                torch.save(state, path)  # expect: DST406
                dist.barrier()
            """,
            id="for other files, which all ranks have to call",
        ),
        pytest.param(
            """
            def keep(state, path, old):
                torch.save(state, path)  # expect: DST406
                if dist.get_rank() == 0 and os.path.exists(old):
                    os.remove(old)

            def main(state):
                dist.init_process_group("nccl")
                keep(state, "a.pt", "b.pt")
            """,
            id="called in the file on all ranks",
        ),
        pytest.param(
            """
            def train_one_epoch(model, batches, path):
                for batch in batches:
                    model(batch).sum().backward()
                torch.save(model.state_dict(), path)  # expect: DST406
                if dist.get_rank() == 0:
                    print("saved")
            """,
            id="for other files, but it trains",
        ),
        pytest.param(
            """
            import lightning.pytorch as pl

            def main(cuda, model):
                devices = 1 if cuda is None else [cuda]
                trainer = pl.Trainer(devices=devices)
                torch.save(trainer.predict(model), "a.pt")
            """,
            id="a trainer on one device, through a variable",
        ),
        pytest.param(
            """
            import lightning.pytorch as pl

            def main(model):
                trainer = pl.Trainer(devices=[0, 1])
                torch.save(trainer.predict(model), "a.pt")  # expect: DST406
            """,
            id="a trainer on two devices",
        ),
        pytest.param(
            """
            import lightning.pytorch as pl

            def convert(model, strategy):
                trainer = pl.Trainer(accelerator="cpu", strategy=strategy)
                torch.save(trainer.predict(model), "a.pt")
            """,
            id="a trainer on the CPU, where one process is the default",
        ),
        pytest.param(
            """
            from accelerate import Accelerator

            def main(model):
                accelerator = Accelerator()
                model = torch.nn.DataParallel(model)
                torch.save(model.state_dict(), "a.pt")
            """,
            id="one process that uses all GPUs",
        ),
        pytest.param(
            """
            from accelerate import Accelerator

            def main(args, model):
                accelerator = Accelerator()
                if args.alone:
                    model = torch.nn.DataParallel(model)
                torch.save(model.state_dict(), "a.pt")  # expect: DST406
            """,
            id="one process that uses all GPUs, perhaps",
        ),
        pytest.param(
            """
            def main(args, model):
                if args.distributed:
                    model = DDP(model)
                torch.save({}, "a.pt")  # expect: DST406
            """,
            id="a model that is wrapped in a run of many processes",
        ),
        pytest.param(
            """
            def main(rank, best):
                dist.init_process_group("nccl")
                if best > 0.5:
                    torch.save({}, "a.pt")  # expect: DST406
            """,
            id="a test of something else",
        ),
        pytest.param(
            """
            from transformers import Trainer

            class Own(Trainer):
                def _save(self, folder, state=None):
                    super()._save(folder, state)
                    torch.save(self.args, folder + "/args.bin")
                    if self.args.process_index == 0:
                        print("saved")
            """,
            id="a method of a framework, which the file itself never calls",
        ),
        pytest.param(
            """
            import random
            import string

            def main(rank, folder):
                dist.init_process_group("nccl")
                name = "".join(random.choices(string.ascii_lowercase, k=8))
                torch.save({}, folder + "/" + name + ".pt")
            """,
            id="a name that each process draws",
        ),
        pytest.param(
            """
            import random

            def main(rank, folder):
                random.seed(0)
                torch.save({}, f"{folder}/{random.randint(0, 9)}.pt")  # expect: DST406
            """,
            id="a name that all processes draw alike",
        ),
        pytest.param(
            """
            from argparse import Namespace

            args = Namespace(rank=0, world_size=1)
            dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
            torch.save({}, "a.pt")
            """,
            id="a group of one process",
        ),
        pytest.param(
            """
            if "RANK" not in os.environ:
                dist.init_process_group("gloo", rank=0, world_size=1)
            dist.barrier()
            torch.save({}, "a.pt")  # expect: DST406
            """,
            id="a group of one process where no launcher made another",
        ),
        pytest.param(
            """
            def main(args, net):
                device = f"cuda:{args.gpu}" if args.gpu >= 0 else "cpu"
                if args.gpu != -1 and torch.cuda.is_available():
                    net.to(device)
                if args.gpu is not None:
                    print(args.gpu)
                torch.save(net.state_dict(), "a.pt")

            main(args, net)
            """,
            id="whether there is a GPU is no question about the rank",
        ),
        pytest.param(
            """
            def main(args, net):
                if args.gpu == 0:
                    print(args.gpu)
                torch.save(net.state_dict(), "a.pt")  # expect: DST406

            main(args, net)
            """,
            id="which GPU it is may be one",
        ),
        pytest.param(
            """
            def main(args, net):
                dist.init_process_group("nccl")
                if not args.standalone:
                    dist.barrier()
                    if dist.get_rank() == 0:
                        torch.save(net.state_dict(), "a.pt")
                else:
                    torch.save(net.state_dict(), "a.pt")
            """,
            id="a run of one process has no other ranks",
        ),
        pytest.param(
            """
            def keep(net, path):
                torch.save(net.state_dict(), path)  # expect: DST406

            def main(device, net):
                dist.init_process_group("nccl")
                net = net.to(device)
                keep(net, "a.pt")
            """,
            id="what else is passed beside the path has a device",
        ),
        pytest.param(
            """
            def keep(path, state):
                torch.save(state, path)

            def main(rank, state):
                dist.init_process_group("nccl")
                keep(f"{rank}.pt", state)
            """,
            id="the path that is passed has the rank",
        ),
        pytest.param(
            """
            def main(rank, state):
                dist.init_process_group("nccl")
                if len(state) > 9:
                    name = f"part_{rank}.pt"
                    torch.save(state, name)
                else:
                    name = "all.pt"
                    torch.save(state, name)  # expect: DST406
            """,
            id="the name has the rank in another branch",
        ),
        pytest.param(
            """
            def main(folder, device, progress):
                dist.init_process_group("nccl")
                step = int(progress(device))
                torch.save({}, f"{folder}/{step}.pt")  # expect: DST406
            """,
            id="the number of the step has nothing to do with the device",
        ),
        pytest.param(
            """
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

            def keep(net, optimizer, path):
                state = FSDP.optim_state_dict(net, optimizer)
                torch.save(state, path)  # expect: DST406
            """,
            id="for other files, with a state that all ranks have to gather",
        ),
        pytest.param(
            """
            def keep(engine, path):
                state = engine._zero3_consolidated_16bit_state_dict()
                torch.save(state, path)  # expect: DST406
            """,
            id="the same of DeepSpeed, whose engine comes from elsewhere",
        ),
        pytest.param(
            """
            import sys

            def main(rank, loss):
                dist.init_process_group("nccl")
                if not math.isfinite(loss):
                    torch.save({"loss": loss}, "bad.pt")
                    sys.exit(1)
                if loss < 0:
                    torch.save({"loss": loss}, "good.pt")  # expect: DST406
            """,
            id="what has led to the end of a process",
        ),
        pytest.param(
            """
            class Keeper:
                def __init__(self, rank):
                    self.rank = rank
                    dist.init_process_group("nccl")

                def keep(self, trainer, path):
                    dist.barrier()
                    state = trainer.state()
                    if state is None:
                        assert self.rank > 0
                        return
                    torch.save(state, path)
            """,
            id="those that leave say that they are others",
        ),
        pytest.param(
            """
            def main(args):
                dist.init_process_group("nccl")
                if args.on_each_node:
                    if args.local_rank != 0:
                        return
                else:
                    if args.rank != 0:
                        return
                torch.save({}, "a.pt")
            """,
            id="both arms send some away",
        ),
        pytest.param(
            """
            def main(args):
                dist.init_process_group("nccl")
                if dist.is_initialized():
                    if dist.get_rank() != 0:
                        return
                torch.save({}, "a.pt")
            """,
            id="the arm of many processes sends some away",
        ),
        pytest.param(
            """
            def main(args):
                dist.init_process_group("nccl")
                if args.quick:
                    if args.rank != 0:
                        return
                torch.save({}, "a.pt")  # expect: DST406
            """,
            id="an arm for something else sends some away",
        ),
        pytest.param(
            """
            def main(args):
                dist.init_process_group("nccl")
                torch.cuda.set_device(args.local_rank)
                if torch.cuda.current_device() == 0:
                    torch.save({}, "a.pt")
            """,
            id="the first GPU of a node",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer

            def main(net, data):
                trainer = Trainer(accelerator="gpu", devices=4, strategy="ddp_spawn")
                trainer.fit(net, data)
                torch.save(net.state_dict(), "a.pt")
            """,
            id="the forked processes have ended",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer

            def main(net, data):
                trainer = Trainer(accelerator="gpu", devices=4, strategy="ddp")
                trainer.fit(net, data)
                torch.save(net.state_dict(), "a.pt")  # expect: DST406
            """,
            id="the started processes go on behind fit",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer

            def main(args, net, data):
                trainer = Trainer(
                    accelerator="gpu" if args.gpu >= 0 else "cpu",
                    devices=[args.gpu] if args.gpu >= 0 else "auto",
                )
                trainer.fit(net, data)
                torch.save(net.state_dict(), "a.pt")
            """,
            id="one GPU, or the CPU",
        ),
        pytest.param(
            """
            from pytorch_lightning import Trainer

            def main(args, net, data):
                trainer = Trainer(
                    accelerator="gpu" if args.gpu >= 0 else "cpu",
                    devices=args.gpus if args.gpu >= 0 else "auto",
                )
                trainer.fit(net, data)
                torch.save(net.state_dict(), "a.pt")  # expect: DST406
            """,
            id="some GPUs, or the CPU",
        ),
        pytest.param(
            """
            class Trainer:
                def train(self, net, rank):
                    self.net = DDP(net)
                    if rank == 0:
                        self.save(best=False)
                    self.save(best=True)

                def save(self, best=False):
                    if not best:
                        torch.save(self.net.module, "last.pt")
                    else:
                        torch.save(self.net.module, "best.pt")  # expect: DST406
            """,
            id="a constant that rank 0 alone passes leads there",
        ),
        pytest.param(
            """
            class Trainer:
                def train(self, net, rank):
                    self.net = DDP(net)
                    if rank == 0:
                        self.save(best=False)
                    self.save(best=True)

                def save(self, best=False):
                    best = best and self.improves
                    if not best:
                        torch.save(self.net.module, "last.pt")  # expect: DST406
            """,
            id="the constant is replaced before it is tested",
        ),
        pytest.param(
            """
            class Basic:
                def train(self, batches):
                    for batch in batches:
                        if self.rank == 0:
                            print(self.step(batch))
                        self.save()

                def save(self):
                    torch.save(self.net.state_dict(), "net.pt")

            class Sharded(Basic):
                def save(self):
                    state = self.net.state_dict()
                    if self.rank == 0:
                        torch.save(state, "net.pt")
                    dist.barrier()
            """,
            id="the subclass for many ranks saves in its own way",
        ),
    ],
)
def test_a_save_is_reported_when_nothing_keeps_the_other_ranks_away(body: str) -> None:
    check(body, "DST406")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            def main(rank, folder):
                try:
                    shutil.rmtree(folder)
                except FileNotFoundError:
                    pass
            """,
            id="a handler",
        ),
        pytest.param(
            """
            from accelerate import Accelerator, DistributedType

            def main(old):
                accelerator = Accelerator()
                deepspeed = accelerator.distributed_type == DistributedType.DEEPSPEED
                if accelerator.is_main_process or accelerator.distributed_type == "DEEPSPEED":
                    shutil.rmtree(old)  # expect: DST413
            """,
            id="all ranks under DeepSpeed",
        ),
    ],
)
def test_a_deletion_is_reported_when_a_missing_file_is_an_error(body: str) -> None:
    check(body, "DST413")


@pytest.mark.parametrize(("value", "found"), [("is_master(args)", False), ("True", True)])
def test_the_script_that_imports_a_file_says_who_saves(
    tmp_path: Path, value: str, found: bool
) -> None:
    (tmp_path / "main.py").write_text(
        f"from loop import train\n\nargs = parse()\nargs.saves = bool(args.out) and {value}\n"
    )
    body = """
        def train(args, net):
            dist.barrier()
            if args.saves and args.every:
                torch.save(net.state_dict(), "a.pt")
    """
    source = HEAD + dedent(body).lstrip("\n")
    assert bool(asked(source, "DST406", tmp_path / "loop.py")) is found


@pytest.mark.parametrize(("size", "found"), [("1", False), ("8", True)])
def test_options_of_another_file_say_how_many_processes_there_are(
    tmp_path: Path, size: str, found: bool
) -> None:
    (tmp_path / "options.py").write_text(
        f"import argparse\n\nargs = argparse.Namespace(rank=0, world_size={size})\n"
    )
    (tmp_path / "others.py").write_text(
        "from argparse import Namespace\n\nargs = Namespace(world_size=1)\n"
    )
    source = HEAD + dedent(
        """
        if len(os.listdir(".")) > 4:
            from options import args
        else:
            from others import args
        dist.init_process_group("nccl", rank=args.rank, world_size=args.world_size)
        torch.save({}, "a.pt")
        """
    )
    assert bool(asked(source, "DST406", tmp_path / "script.py")) is found


@pytest.mark.parametrize(("device", "found"), [("args.number", False), ("args.local_rank", True)])
def test_an_option_for_the_rank_that_is_replaced_by_a_device_is_none(
    device: str, found: bool
) -> None:
    source = HEAD + dedent(
        f"""
        import argparse

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--number", type=int, default=0)
            parser.add_argument("--local_rank", type=int, default=-1)
            args = parser.parse_args()
            if not os.path.exists("out"):
                os.makedirs("out")
            args.local_rank = torch.device("cuda", {device})
        """
    )
    assert bool(reported(source, "DST414")) is found


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            def main(path, net):
                model = DDP(net.cuda())
                model.load_state_dict(torch.load(path))  # expect: DST404
            """,
            id="straight into the model",
        ),
        pytest.param(
            """
            def main(args, net):
                dist.init_process_group("nccl")
                if args.gpu is None:
                    state = torch.load(args.path)
                else:
                    state = torch.load(args.path, map_location=f"cuda:{args.gpu}")
                net.load_state_dict(state)
            """,
            id="a branch for one device",
        ),
        pytest.param(
            """
            def main(args, net):
                dist.init_process_group("nccl")
                if torch.cuda.is_available():
                    state = torch.load(args.path)  # expect: DST404
                else:
                    state = torch.load(args.path, map_location="cpu")
                net.load_state_dict(state)
            """,
            id="the branch of processes that have a GPU",
        ),
        pytest.param(
            """
            local_rank = int(os.environ.get("LOCAL_RANK", -1))
            net = torch.nn.DataParallel(torch.nn.Linear(2, 2).cuda())
            net.load_state_dict(torch.load("net.pt"))
            """,
            id="into a model on all GPUs of one process",
        ),
        pytest.param(
            """
            def resume(net, optimizer, warmup, folder):
                model = DDP(net.cuda())
                plan = torch.optim.lr_scheduler.LambdaLR(optimizer, warmup)
                optimizer.load_state_dict(torch.load(folder + "/a.pt"))  # expect: DST404
                plan.load_state_dict(torch.load(folder + "/b.pt"))
                scaler = torch.amp.GradScaler("cuda")
                state = torch.load(folder + "/c.pt")
                scaler.load_state_dict(state)
            """,
            id="numbers of a schedule, which are on no device",
        ),
        pytest.param(
            """
            def resume(net, scheduler, path):
                model = DDP(net.cuda())
                state = torch.load(path)  # expect: DST404
                scheduler.load_state_dict(state["scheduler"])
                return state["epoch"]
            """,
            id="a schedule, and more in the same file",
        ),
        pytest.param(
            """
            def main(path, net, **kwargs):
                dist.init_process_group("nccl")
                net.cuda().load_state_dict(torch.load(path, **kwargs))
            """,
            id="arguments that are not known",
        ),
        pytest.param(
            """
            def save(folder, scaler, epoch, args):
                rest = {"scaler": scaler.state_dict(), "epoch": epoch, "run_args": args}
                torch.save(rest, folder + "/rest.pt")

            def resume(net, scaler, folder):
                model = DDP(net.cuda())
                rest = torch.load(folder + "/rest.pt")
                scaler.load_state_dict(rest["scaler"])
                return rest.get("epoch")
            """,
            id="a file of numbers, by what is saved here",
        ),
        pytest.param(
            """
            def save(folder, net, scaler, epoch):
                rest = {"scaler": scaler.state_dict(), "epoch": epoch, "net": net.state_dict()}
                torch.save(rest, folder + "/rest.pt")

            def resume(net, scaler, folder):
                model = DDP(net.cuda())
                rest = torch.load(folder + "/rest.pt")  # expect: DST404
                scaler.load_state_dict(rest["scaler"])
                return rest.get("epoch")
            """,
            id="a file that has weights in it, by what is saved here",
        ),
        pytest.param(
            """
            def main(nets, folder, weights):
                dist.init_process_group("nccl")
                options = torch.load(folder + "/options.pt")
                model = nets[options.name](options.width).cuda()
                state = torch.load(weights, map_location="cpu")
                model.load_state_dict(state, strict=True)
            """,
            id="the options by which the model is made",
        ),
        pytest.param(
            """
            def main(Net, path):
                dist.init_process_group("nccl")
                saved = torch.load(path)  # expect: DST404
                model = Net(saved["width"]).cuda()
                model.load_state_dict(saved["model"])
            """,
            id="the options and the weights in one file",
        ),
        pytest.param(
            """
            from torch.distributed.fsdp import FullyShardedDataParallel as FSDP

            def resume(model, optimizer, path):
                dist.barrier()
                whole = torch.load(path)["optimizer"]
                own = FSDP.shard_full_optim_state_dict(whole, model, optim=optimizer)
                optimizer.load_state_dict(own)
            """,
            id="a full optimizer state, which FSDP gathers on the CPU",
        ),
        pytest.param(
            """
            def main(net, folder):
                model = DDP(net.cuda())
                name = os.path.join(folder, f"state_{dist.get_rank()}.pt")
                model.load_state_dict(torch.load(name))
                model.load_state_dict(torch.load(os.path.join(folder, "all.pt")))  # expect: DST404
            """,
            id="each rank has a file of its own",
        ),
        pytest.param(
            """
            def main(rank, net, path):
                dist.init_process_group("gloo")
                device = torch.device("cpu")
                model = DDP(net.to(device))
                model.load_state_dict(torch.load(path))
            """,
            id="a run on the CPU",
        ),
        pytest.param(
            """
            def main(rank, net, path, name):
                dist.init_process_group("gloo")
                device = torch.device(name)
                model = DDP(net.to(device))
                model.load_state_dict(torch.load(path))  # expect: DST404
            """,
            id="a run on some device",
        ),
        pytest.param(
            """
            import lightning.pytorch as pl

            def main(Net, path):
                trainer = pl.Trainer(devices=8)
                trainer.fit(Net.load_from_checkpoint(path))  # expect: DST404
            """,
            id="Lightning 2 loads onto the device of the file",
        ),
        pytest.param(
            """
            import pytorch_lightning as pl

            def main(Net, path, args):
                trainer = pl.Trainer.from_argparse_args(args, devices=8)
                pl.Trainer(devices=8).fit(Net.load_from_checkpoint(path))
            """,
            id="Lightning 1 loads onto the CPU",
        ),
    ],
)
def test_a_load_is_reported_when_every_rank_loads_onto_one_device(body: str) -> None:
    check(body, "DST404")


LOADERS = """\
import lightning.pytorch as pl
from models import Large, Small

def load(cls, path):
    return cls.load_from_checkpoint(path)

def main(path):
    trainer = pl.Trainer(devices=8)
    trainer.fit(load(Large, path))
    trainer.fit(Large.load_from_checkpoint(path))
    trainer.fit(Small.load_from_checkpoint(path))
"""


@pytest.mark.parametrize(
    ("asks", "rows"), [("lightning", [5, 10, 11]), ("pytorch-lightning>=1.8,<2.0", [])]
)
def test_lightning_1_loads_onto_the_cpu(tmp_path: Path, asks: str, rows: list[int]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "requirements.txt").write_text(asks + "\n")
    found = asked(LOADERS, "DST404", tmp_path / "script.py")
    assert [each.place.span.row for each in found] == rows


def test_requirements_may_be_in_a_file_that_another_takes_in(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "base.txt").write_text("pytorch-lightning <2.0\n")
    (tmp_path / "requirements.txt").write_text("-r parts/base.txt\n")
    assert not asked(LOADERS, "DST404", tmp_path / "script.py")
    (tmp_path / "parts" / "base.txt").write_text("pytorch-lightning\n")
    assert asked(LOADERS, "DST404", tmp_path / "script.py")


@pytest.mark.parametrize(
    ("loader", "rows"),
    [
        ("torch.load(path, map_location='cpu')", [11]),
        ("super().load_from_checkpoint(path)", [5, 10, 11]),
    ],
)
def test_a_class_of_another_file_loads_in_its_own_way(
    tmp_path: Path, loader: str, rows: list[int]
) -> None:
    (tmp_path / "bases.py").write_text(
        "import lightning.pytorch as pl\nimport torch\n\n"
        "class Base(pl.LightningModule):\n"
        "    @classmethod\n"
        "    def load_from_checkpoint(cls, path):\n"
        f"        return {loader}\n"
    )
    (tmp_path / "models.py").write_text(
        "import lightning.pytorch as pl\nfrom bases import Base\n\n"
        "class Large(Base):\n    pass\n\n"
        "class Small(pl.LightningModule):\n    pass\n"
    )
    found = asked(LOADERS, "DST404", tmp_path / "script.py")
    assert [each.place.span.row for each in found] == rows


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
            def main(net, rank):
                model = DDP(net)
                bare = model.module if hasattr(model, "module") else model
                torch.save(bare.state_dict(), "a.pt")
            """,
            id="taken out on some ways",
        ),
        pytest.param(
            """
            def main(net, rank):
                model = DDP(net)
                while hasattr(model, "module"):
                    model = model.module
                torch.save(model.state_dict(), "a.pt")
            """,
            id="taken out in a loop",
        ),
        pytest.param(
            """
            def main(net, optimizer):
                model = DDP(net)
                torch.save({"optimizer": optimizer.state_dict()}, "a.pt")
            """,
            id="the state of something else",
        ),
        pytest.param(
            """
            def main(net, distributed):
                model = net
                if distributed:
                    model = DDP(net)
                state = {"model": model.state_dict()}  # expect: DST401
                torch.save(state, "a.pt")
            """,
            id="wrapped on some ways",
        ),
        pytest.param(
            """
            class Trainer:
                def __init__(self, net, path):
                    self.model = net
                    if path:
                        self.resume(path)
                    self.model = DDP(self.model)

                def resume(self, path):
                    self.model.load_state_dict(torch.load(path, map_location="cpu"))

                def save(self, path):
                    torch.save(self.model.state_dict(), path)  # expect: DST401
            """,
            id="resumed before the model is wrapped",
        ),
        pytest.param(
            """
            class Trainer:
                def __init__(self, net, path):
                    self.model = DDP(net)
                    self.resume(path)

                def resume(self, path):
                    self.model.load_state_dict(torch.load(path, map_location="cpu"))

                def save(self, path):
                    torch.save(self.model.state_dict(), path)
            """,
            id="resumed into the wrapper",
        ),
        pytest.param(
            """
            def train(net, path):
                model = DDP(net)
                torch.save(model.state_dict(), path)

            def evaluate(net, path):
                state = torch.load(path, map_location="cpu")
                net.load_state_dict({name[7:]: value for name, value in state.items()})
            """,
            id="cut off by its length",
        ),
        pytest.param(
            """
            def train(net, path):
                model = DDP(net)
                torch.save(model.state_dict(), path)  # expect: DST401

            def evaluate(net, path):
                state = torch.load(path, map_location="cpu")
                net.load_state_dict({name[4:]: value for name, value in state.items()})
            """,
            id="something else is cut off",
        ),
    ],
)
def test_a_prefix_is_reported_when_the_wrapper_itself_is_saved(body: str) -> None:
    check(body, "DST401")


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("if rank == 0:", False),
        ("if rank in (-1, 0) and folder:", False),
        ("if rank == -1:", False),
        ("if rank != -1:", True),
        ("if rank >= 0 and folder:", True),
        ("if rank == -1 or not folder:\n        pass\n    else:", True),
        ("if rank > 0:\n        pass\n    else:", False),
        ("if folder:", True),
    ],
)
@pytest.mark.parametrize("caller", [False, True])
def test_a_folder_of_one_rank_is_reported_where_the_others_come(
    test: str, found: bool, caller: bool
) -> None:
    body = [
        "if rank in (-1, 0):",
        "    os.makedirs(folder)",
        'with open(folder + "/a", "w") as out:',
    ]
    inside = ["pass"] if caller else [*body, "    pass"]
    lines = ["def save(rank, folder):", *body, "    pass"] if caller else []
    lines[1:] = [" " * 4 + line for line in lines[1:]]
    lines += ["", "def main(rank, folder):", f"    {test}"]
    lines += [" " * 8 + line for line in (["save(rank, folder)"] if caller else inside)]
    source = HEAD + "\n".join(lines) + "\n"
    assert bool(reported(source, "DST408")) is found


@pytest.mark.parametrize(
    ("making", "found"),
    [
        ('os.makedirs(os.path.join(folder, "a"), exist_ok=True)', False),
        ("os.makedirs(folder, exist_ok=True)", False),
        ('os.mkdir(os.path.join(folder, "a"))', True),
        ('os.makedirs("elsewhere", exist_ok=True)', True),
    ],
)
def test_a_folder_that_each_rank_makes_needs_no_other_rank(making: str, found: bool) -> None:
    source = HEAD + dedent(
        f"""
        def main(rank, folder):
            if rank == 0:
                os.makedirs(folder, exist_ok=True)
            for step in range(4):
                {making}
                torch.save({{}}, os.path.join(folder, "a", str(rank)))
        """
    )
    assert bool(reported(source, "DST408")) is found


@pytest.mark.parametrize(("handling", "found"), [("time.sleep(30)", False), ("print(tries)", True)])
def test_a_write_that_is_tried_again_after_a_while_finds_the_folder(
    handling: str, found: bool
) -> None:
    source = HEAD + dedent(
        f"""
        def main(rank, folder):
            if rank == 0:
                os.makedirs(folder, exist_ok=True)
            for tries in range(3):
                try:
                    torch.save({{}}, os.path.join(folder, str(rank)))
                    break
                except OSError:
                    {handling}
        """
    )
    assert bool(reported(source, "DST408")) is found


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("not os.path.exists(rank_dir)", False),
        ("not os.path.exists(rank_dir) and wanted", False),
        ("rank == 0", True),
        ("rank == 0 and not os.path.exists(rank_dir)", True),
    ],
)
def test_the_name_of_a_folder_says_nothing_about_who_makes_it(test: str, found: bool) -> None:
    source = HEAD + dedent(
        f"""
        def main(rank, rank_dir, wanted):
            dist.init_process_group("gloo")
            if {test}:
                os.mkdir(rank_dir)
            torch.save({{}}, os.path.join(rank_dir, "a.pt"))
        """
    )
    assert bool(reported(source, "DST408")) is found


@pytest.mark.parametrize(("variables", "found"), [("current_env", False), ("os.environ", True)])
def test_a_launcher_is_one_process(variables: str, found: bool) -> None:
    source = dedent(
        f"""
        import os
        import subprocess

        def main(args, current_env):
            if not os.path.exists(args.logs):
                os.mkdir(args.logs)
            {variables}["LOCAL_RANK"] = str(args.index)
            subprocess.Popen(args.command, env=current_env).wait()
        """
    )
    assert bool(reported(source, "DST414")) is found


@pytest.mark.parametrize(("model", "found"), [("net.cuda()", False), ("Wrapped(net.cuda())", True)])
def test_an_import_that_is_not_used_starts_no_processes(model: str, found: bool) -> None:
    source = dedent(
        f"""
        import torch
        from torch.distributed import init_process_group
        from torch.nn.parallel import DistributedDataParallel as Wrapped

        def load(net, path):
            net.load_state_dict(torch.load(path))
            return {model}
        """
    )
    assert bool(reported(source, "DST404")) is found


@pytest.mark.parametrize(("test", "found"), [("keep", False), ("not keep", False), ("True", True)])
def test_a_caller_may_say_that_a_prefix_stays(test: str, found: bool) -> None:
    source = HEAD + dedent(
        f"""
        def load(net, path, keep=False):
            state = torch.load(path, map_location="cpu")
            if {test}:
                state = {{k.removeprefix("module."): v for k, v in state.items()}}
            net.load_state_dict(state)

        def main(net):
            dist.init_process_group("gloo")
            net = DDP(net)
            load(net, "a.pt", keep=True)
        """
    )
    assert bool(reported(source, "DST402")) is found


@pytest.mark.parametrize(
    ("sampler", "then", "found"),
    [
        ("RandomSampler", "log.info(args)", False),
        ("DistributedSampler", "log.info(args)", True),
        ("RandomSampler", "train(args)", True),
        ("RandomSampler", "return args", True),
        ("RandomSampler", "log.args = args", True),
    ],
)
def test_an_option_for_the_rank_that_nothing_reads_is_left_over(
    sampler: str, then: str, found: bool
) -> None:
    source = dedent(
        f"""
        import argparse
        import logging
        import os
        import torch
        from torch.utils.data import RandomSampler
        from torch.utils.data.distributed import DistributedSampler
        from loops import train

        log = logging.getLogger(__name__)

        def main(data):
            parser = argparse.ArgumentParser()
            parser.add_argument("--out", default="out")
            parser.add_argument("--local_rank", type=int, default=-1)
            args = parser.parse_args()
            if not os.path.exists(args.out):
                os.makedirs(args.out)
            torch.save(list({sampler}(data)), os.path.join(args.out, "order.pt"))
            {then}
        """
    )
    assert bool(reported(source, "DST406")) is found
    assert bool(reported(source, "DST414")) is found


@pytest.mark.parametrize(
    ("helper", "found"),
    [
        ("def seed(number):\n    torch.manual_seed(number)\n", False),
        ("def seed(number):\n    torch.distributed.init_process_group('nccl')\n", True),
        ("from elsewhere import *\n", True),
    ],
)
def test_a_script_that_never_joins_ends_at_the_wrap(
    tmp_path: Path, helper: str, found: bool
) -> None:
    (tmp_path / "helpers.py").write_text(f"import torch\n\n{helper}")
    source = dedent(
        """
        import argparse
        import torch
        from apex.parallel import DistributedDataParallel as DDP
        from helpers import seed

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--local_rank", type=int, default=-1)
            args = parser.parse_args()
            seed(1)
            model = torch.nn.Linear(2, 2)
            if args.local_rank != -1:
                model = DDP(model)
            torch.save(model.state_dict(), "a.pt")

        if __name__ == "__main__":
            main()
        """
    )
    assert bool(asked(source, "DST406", tmp_path / "script.py")) is found


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ('os.environ["WORLD_SIZE"] = "1"', False),
        ('os.environ["WORLD_SIZE"] = "2"', True),
        ('os.environ.setdefault("WORLD_SIZE", "1")', True),
        ('if "RANK" not in os.environ:\n        os.environ["WORLD_SIZE"] = "1"', True),
    ],
)
def test_a_world_size_that_the_script_sets_to_one_is_one(setting: str, found: bool) -> None:
    source = HEAD + (
        f"\ndef join():\n    {setting}\n    dist.init_process_group('nccl')\n"
        "\ndef main(net):\n    join()\n    torch.save(DDP(net).module, 'a.pt')\n"
    )
    assert bool(reported(source, "DST406")) is found


@pytest.mark.parametrize(("inner", "rows"), [("args.out", [12]), ("'logs'", [12, 14])])
def test_a_folder_is_there_once_each_rank_has_made_one_in_it(inner: str, rows: list[int]) -> None:
    source = HEAD + dedent(
        f"""
        def main(args, rank):
            dist.init_process_group("nccl", rank=rank)
            folder = os.path.join({inner}, args.name)
            if not os.path.exists(folder):
                os.makedirs(folder)
            if not os.path.exists(args.out):
                os.makedirs(args.out)
        """
    )
    assert [row for row, _ in reported(source, "DST414")] == rows


@pytest.mark.parametrize(
    ("what_it_does_there", "found"),
    [
        ("assert batches % int(os.environ['WORLD_SIZE']) == 0", True),
        ("if os.environ['RANK'] != '0':\n        sys.exit()", False),
    ],
)
def test_a_count_that_has_to_fit_sends_no_rank_away(what_it_does_there: str, found: bool) -> None:
    source = (
        "import os, sys\nimport torch\nimport torch.distributed as dist\n\n"
        "ddp = int(os.environ.get('RANK', -1)) != -1\nbatches = 8\nnet = torch.nn.Linear(2, 2)\n"
        f"if ddp:\n    dist.init_process_group('gloo')\n    {what_it_does_there}\n"
        "if ddp:\n    net = torch.nn.parallel.DistributedDataParallel(net)\n"
        "torch.save(net.state_dict(), 'net.pt')\n"
    )
    assert bool(reported(source, "DST406")) is found


@pytest.mark.parametrize(("name", "found"), [("train.py", True), ("train.ipynb", False)])
def test_one_process_runs_a_notebook_until_it_forks_others(name: str, found: bool) -> None:
    code = (
        "import lightning as L\nfrom torchvision.datasets import VOCDetection\n"
        "data = VOCDetection('voc', download=True)\n"
        "L.Trainer(devices='auto', accelerator='gpu', strategy='ddp').fit(net, data)\n"
    )
    if name.endswith(".ipynb"):
        cell = {"cell_type": "code", "source": code, "metadata": {}, "outputs": []}
        code = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert bool(asked(code, "DST415", Path(name))) is found
