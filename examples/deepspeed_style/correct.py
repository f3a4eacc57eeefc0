"""Train a small network with DeepSpeed ZeRO.

Run it with `deepspeed --num_gpus 2 examples/deepspeed_style/correct.py`.
"""

import argparse

import deepspeed
import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

CONFIG = {
    "train_micro_batch_size_per_gpu": 8,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-3}},
    "zero_optimization": {"stage": 2},
    "bf16": {"enabled": True},
}


def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=-1)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--max-loss", type=float, default=100.0)
    parser.add_argument("--checkpoint-dir", default="checkpoints")
    return deepspeed.add_config_arguments(parser).parse_args()


def make_loader():
    inputs = torch.randn(4096, 16)
    data = TensorDataset(inputs, inputs.sum(-1, keepdim=True))
    return DataLoader(data, batch_size=8, sampler=DistributedSampler(data), drop_last=True)


def main():
    args = parse_args()
    deepspeed.init_distributed()
    model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1))
    engine, _, _, _ = deepspeed.initialize(
        args=args, model=model, model_parameters=model.parameters(), config=CONFIG
    )
    loader = make_loader()
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for step, (inputs, targets) in enumerate(loader):
            inputs = inputs.to(engine.device, dtype=torch.bfloat16)
            targets = targets.to(engine.device, dtype=torch.bfloat16)
            loss = nn.functional.mse_loss(engine(inputs), targets)
            worst = loss.detach().float()
            dist.all_reduce(worst, op=dist.ReduceOp.MAX)
            if worst.item() > args.max_loss:  # the same value everywhere: all skip, or none
                if dist.get_rank() == 0:
                    print("skipping a bad batch")
                continue
            engine.backward(loss)
            engine.step()
            if step % args.save_every == 0:  # every rank writes its part
                engine.save_checkpoint(args.checkpoint_dir, tag=f"{epoch}-{step}")


if __name__ == "__main__":
    main()
