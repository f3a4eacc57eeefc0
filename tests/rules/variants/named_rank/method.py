from torch.distributed import broadcast


class Trainer:
    def __init__(self, model, rank):
        self.model = model
        self.rank = rank

    def publish(self, tensor):
        if self.rank == 0:  # expect: DST101
            tensor.mul_(2)
            broadcast(tensor, 0)
