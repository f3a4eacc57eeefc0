from torch.distributed import get_rank, init_process_group


def join(backend):
    try:
        init_process_group(backend)
        return True
    except Exception as error:
        print(error)
        return False


def main(model, batches):
    join("gloo")
    rank = get_rank()
    for batch in batches:
        model(batch, rank).backward()
