import lightning as L


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        loss = self(batch).mean() / self.trainer.accumulate_grad_batches
        self.manual_backward(loss)
        return loss


class Plain(L.LightningModule):
    def training_step(self, batch, batch_idx):
        return self(batch).mean() / len(batch)

    def validation_step(self, batch, batch_idx):
        return self(batch).mean() / self.trainer.accumulate_grad_batches
