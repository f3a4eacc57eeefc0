import base
from torch.nn.parallel import DistributedDataParallel


class Finetuning(base.Engine):
    def start(self, path=None):
        if path is not None:
            self.restore(path)
            return
        self.net = DistributedDataParallel(self.net, device_ids=[self.device])
