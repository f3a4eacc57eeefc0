"""One process may fail alone, and saves what led to it."""

import math
import os
import sys

import torch
import torch.distributed as dist


def check(loss, batch):
    if not math.isfinite(loss):
        print("Loss is {}, stopping training".format(loss))
        torch.save(batch, "batch.pt")
        sys.exit()
    if torch.isnan(batch).any():
        with open("nan.pt", "wb") as file:
            torch.save(batch, file)
        raise ValueError("nan in the batch")
    if loss > 1e6:
        for name in ("batch", "again"):
            torch.save(batch, "large.pt")
        os._exit(1)
    is_unusable = bool(torch.isinf(batch).any())
    if is_unusable:
        torch.save(batch, "inf.pt")
        sys.exit(0)
    if batch.shape[0] == 0:
        torch.save(batch, "empty.pt")
        raise RuntimeError("no items")


class Trainer:
    def step(self, batch):
        loss = self.model(batch)
        if loss != loss:
            if self.args.keep_bad_batches:
                torch.save(batch, "bad.pt")
            sys.exit(-1)
        return loss


def main(args, loader, trainer):
    dist.init_process_group("nccl")
    for batch in loader:
        check(trainer.step(batch), batch)


if __name__ == "__main__":
    args, loader, trainer = given()
    main(args, loader, Trainer(args))
    sys.exit(0)
