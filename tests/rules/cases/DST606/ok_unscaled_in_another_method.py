from torch.nn.utils import clip_grad_norm_


class Trainer:
    def run(self, batch):
        self.scaler.scale(self.model(batch).mean()).backward()
        self.scaler.unscale_(self.optimizer)
        self.update()

    def update(self):
        clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
