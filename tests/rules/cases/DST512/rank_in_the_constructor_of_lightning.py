import lightning as L
import torch
import wandb


class Net(L.LightningModule):
    def __init__(self, options):
        super().__init__()
        self.net = torch.nn.Linear(2, 2)
        if self.global_rank == 0 and options.wandb:  # expect: DST512
            wandb.init(project="x")
        self.is_first = self.local_rank == 0  # expect: DST512
        self.table = wandb.Table() if self.global_rank == 0 else None  # expect: DST512
        self._prepare(options)

    def _prepare(self, options):
        if not self.global_rank:  # expect: DST512
            torch.save(options, "options.pt")

    def training_step(self, batch, index):
        return self.net(batch).sum()
