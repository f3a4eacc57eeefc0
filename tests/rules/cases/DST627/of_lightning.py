import pytorch_lightning as pl
import torch.nn.functional as F


class Classifier(pl.LightningModule):
    def shared(self, batch):
        return F.cross_entropy(self(batch[0]), batch[1])

    def training_step(self, batch, batch_idx):
        loss = self.shared(batch)
        self.log("train_loss", loss)
        loss = loss / self.trainer.accumulate_grad_batches  # expect: DST627
        return {"loss": loss}


class OfTheOption(pl.LightningModule):
    def __init__(self, args):
        super().__init__()
        self.args = args

    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self(batch[0]), batch[1]) / self.args.accumulate  # expect: DST627
        return loss


def main(args, loader):
    trainer = pl.Trainer(devices=4, strategy="ddp", accumulate_grad_batches=args.accumulate)
    trainer.fit(OfTheOption(args), loader)
