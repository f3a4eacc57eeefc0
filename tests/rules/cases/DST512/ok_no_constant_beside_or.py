import os


def main(args, rank, accelerator):
    first = (rank or 0) == 0
    port = int(os.environ.get("RANK", 0)) or 1
    if rank == 0 or args.all == 1:
        print(first, port)
    if args.verbose or 0 == 0:
        print("no rank")
    size = accelerator.num_processes or 1
    return size
