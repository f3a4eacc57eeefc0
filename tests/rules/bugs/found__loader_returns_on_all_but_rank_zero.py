"""All ranks but 0 return from a loader before its last barrier, and are one barrier ahead."""
# effect: hang

import torch
import torch.distributed as dist


def load_model(model):
    dist.barrier()
    if dist.get_rank() != 0:
        return  # expect: DST104
    model.load_state_dict({"weight": torch.ones(1, 2), "bias": torch.ones(1)})
    dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    model = torch.nn.Linear(2, 1)
    load_model(model)
    for parameter in model.parameters():
        dist.broadcast(parameter.data, 0)
