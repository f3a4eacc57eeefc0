"""A function returns metrics of a batch: the values are each rank's own, the names are not.

# static: the loop of Lightning calls the step
"""

import lightning


class Codec(lightning.LightningModule):
    def losses(self, batch):
        return self.loss(self(batch), batch)

    def training_step(self, batch, index):
        loss, metrics = self.losses(batch)
        if self.weight:
            metrics = {"loss": loss, "weighted": self.weight * loss}
        self.log_dict(metrics, sync_dist=True)
        self.log("step", float(index), sync_dist=True)
        return loss
