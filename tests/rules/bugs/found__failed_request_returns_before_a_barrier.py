"""The main process asks a server, and returns on a refusal; the others wait in the barrier."""
# effect: hang

import torch
import torch.distributed as dist


def post(weights):
    return 503 if weights else 200


def sync_weights(model):
    weights = [value.clone() for value in model.state_dict().values()]
    for value in weights:
        dist.all_reduce(value)
    if dist.get_rank() == 0:
        status = post(weights)
        if status != 200:
            print("not taken:", status)
            return  # expect: DST104
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    sync_weights(model)
    total = torch.ones(1)
    dist.all_reduce(total)
