import torch.distributed as dist


def train(model, batches, limit):
    for batch in batches:
        if dist.get_rank() == 0:
            for value in batch:
                if value > limit:
                    break
            if batch.max() > limit:
                break  # expect: DST104
        loss = model(batch).mean()
        dist.all_reduce(loss)
