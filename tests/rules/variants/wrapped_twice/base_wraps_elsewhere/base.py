from torch.nn.parallel import DistributedDataParallel as DDP


class Base:
    def __init__(self, model, device):
        self.model = DDP(model.to(device), device_ids=[device])
