"""The script exits after its work is done: that says nothing about the saves before."""

import os
import sys

import torch
import torch.distributed as dist


def train(args, model, loader):
    if args.train:
        for epoch in range(args.epochs):
            for batch in loader:
                model(batch)
            torch.save(model.state_dict(), f"{epoch}.pt")  # expect: DST406
        torch.save(model.state_dict(), "final.pt")  # expect: DST406
        sys.exit(1)


def train_or_test(args, model, loader):
    if args.mode == "test":
        while model.step(loader):
            torch.save(model.scores(), "scores.pt")  # expect: DST406
        os._exit(1)
    elif args.mode == "export":
        torch.save(model.state_dict(), "exported.pt")  # expect: DST406
        raise SystemExit(0)
    else:
        with open("all.pt", "wb") as file:
            torch.save(model.state_dict(), file)  # expect: DST406
        sys.exit()


def stop_at_the_end(model, step, max_steps):
    if step >= max_steps:
        torch.save(model.state_dict(), "last.pt")  # expect: DST406
        print("done")
        exit(0)


def train_with(args, model):
    if args.loss == "mse":
        torch.save(model.state_dict(), "mse.pt")  # expect: DST406
        raise SystemExit


def reload_or_make(path, tokenizer):
    if not os.path.exists(path):
        torch.save(tokenizer.encode(path), "encoded.pt")  # expect: DST406
        quit()


if __name__ == "__main__":
    dist.init_process_group("nccl")
    args, model, loader, step = given()
    train(args, model, loader)
    train_or_test(args, model, loader)
    stop_at_the_end(model, step, 1000)
    train_with(args, model)
    reload_or_make(args.path, args.tokenizer)
    for epoch in range(10):
        torch.save({"epoch": epoch}, "epoch.pt")  # expect: DST406
    torch.save(model.state_dict(), "model.pt")  # expect: DST406
    sys.exit(1)
