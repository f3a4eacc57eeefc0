from files import read, write
from options import options


def main(model, optimizer):
    args = options()
    start = 0
    if args.resume:
        state = read(args.resume)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["epoch"]
    for epoch in range(start, 3):
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        state["epoch"], state["args"] = epoch, args
        state["args"] = args
        state["epoch"] = epoch
        write(state, f"{args.out}/{epoch}.pt")
