import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from transformers import Trainer


class Contrastive(Trainer):
    def compute_loss(self, model, inputs, **kwargs):
        query = model(inputs["query"])
        negative = F.normalize(model(inputs["negative"]), dim=-1)
        if self.args.across_ranks:
            every = [torch.zeros_like(negative) for _ in range(dist.get_world_size())]
            dist.all_gather(every, negative)  # expect: DST118
            negative = torch.cat(every)
        return F.cross_entropy(query @ negative.T, torch.arange(len(query)))
