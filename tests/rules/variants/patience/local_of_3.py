import torch.distributed as dist


def evaluate(model, loader):
    return sum(model(batch).mean().item() for batch in loader)


def main(model, loader):
    best, bad = 100.0, 0
    for epoch in range(50):
        dist.barrier()
        if dist.get_rank() == 0:
            loss = evaluate(model, loader)
            if loss < best:
                best, bad = loss, 0
            else:
                bad += 1
                if bad >= 3:
                    break  # expect: DST104
