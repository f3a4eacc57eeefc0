import torch.distributed as dist


def default_first(args):
    run_dir = None
    if dist.get_rank() == 0:
        run_dir = "run"
    return run_dir


def other_arm(loader, tqdm):
    if dist.get_rank() == 0:
        bar = tqdm(loader)
    else:
        bar = loader
    for batch in bar:
        print(batch)


def opposite_test(value):
    rank = dist.get_rank()
    if rank == 0:
        sent = [value]
    if rank != 0:
        sent = [None]
    dist.broadcast_object_list(sent, src=0)
    return sent[0]


def same_test(loader):
    rank = dist.get_rank()
    if rank == 0:
        losses = []
    for batch in loader:
        if rank == 0:
            losses.append(batch)
    if not rank:
        return losses
    return None


def flag(loader):
    is_logging = dist.get_rank() == 0
    if is_logging:
        losses = []
    for batch in loader:
        if is_logging and batch:
            losses.append(batch)


def set_flag(args, loader):
    verbose = False
    if dist.get_rank() == 0:
        verbose = args.verbose
        losses = []
    for batch in loader:
        if verbose:
            losses.append(batch)


def within_one_statement(loader):
    rank = dist.get_rank()
    if rank == 0:
        losses = []
    for batch in loader:
        print(rank == 0 and losses)
        print(losses if rank == 0 else batch)


def left_before():
    if dist.get_rank() != 0:
        return
    losses = []
    print(losses)


def asked(loader):
    if dist.get_rank() == 0:
        losses = []
    if "losses" in locals():
        print(losses)


def caught(loader):
    if dist.get_rank() == 0:
        writer = open("log.txt", "w")
    try:
        writer.close()
    except Exception:
        pass


def on_one_rank():
    if dist.get_rank() == 0:
        writer = open("log.txt", "w")
    return writer


def shares(stage):
    if stage == 0:
        inputs = []
    return inputs


if dist.get_rank() == 0:
    log = on_one_rank()
