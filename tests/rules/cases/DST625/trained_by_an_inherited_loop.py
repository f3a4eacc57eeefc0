import torch.distributed as dist
from simsiam.base import BaseMethod


class Training(BaseMethod):
    def __init__(self, config, rank=0):
        super().__init__(config, rank)
        self.train_loop = self._loop(self._inner_train)

    def _inner_train(self, batch):
        self.optimizer.zero_grad()
        loss = self.model(batch).mean()
        loss.backward()
        self.optimizer.step()
        if self.distributed:
            dist.all_reduce(loss)
        return loss.item()

    def fit(self, loader):
        self.optimizer = self._create_optimizer()
        self.scheduler = self._create_scheduler(self.optimizer)
        for epoch in range(self.config["epochs"]):
            self.train(epoch, loader)
            if self.distributed:
                dist.barrier()
            if self.rank == 0:
                self.scheduler.step()  # expect: DST625
                self._log(epoch)


def main(config, loader):
    dist.init_process_group("nccl")
    Training(config, dist.get_rank()).fit(loader)
