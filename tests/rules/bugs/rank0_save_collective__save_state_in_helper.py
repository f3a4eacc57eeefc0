"""The same behind a helper that first asks whether a checkpoint is due."""
# static: plain DDP, the only strategy on CPU, is not affected
# needs: accelerate

import argparse

import torch
from accelerate import Accelerator


def maybe_checkpoint(accelerator, step, args):
    due = step % args.checkpointing_steps == 0
    if not due:
        return
    if accelerator.is_main_process:  # expect: DST407
        print(f"saving at {step}")
        accelerator.save_state(f"{args.output_dir}/checkpoint-{step}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpointing_steps", type=int, default=50)
    parser.add_argument("--output_dir", default="out")
    args = parser.parse_args()
    accelerator = Accelerator()
    model = accelerator.prepare(torch.nn.Linear(2, 1))
    for step in range(200):
        accelerator.backward(model(torch.randn(4, 2, device=accelerator.device)).mean())
        maybe_checkpoint(accelerator, step, args)


if __name__ == "__main__":
    main()
