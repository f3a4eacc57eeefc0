from torch.nn.utils import clip_grad_norm_


class Trainer:
    def run(self, batch):
        self.scaler.scale(self.model(batch).mean()).backward()
        self.update()

    def update(self):
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST606
        self.scaler.step(self.optimizer)
        self.scaler.update()


class Scaled:
    def run(self, batch):
        self.scaler.scale(self.model(batch).mean()).backward()
        self.update()

    def update(self):
        clip_grad_norm_(self.model.parameters(), 1.0 * self.scaler.get_scale())
        self.scaler.step(self.optimizer)
        self.scaler.update()


class Plain:
    def run(self, batch):
        self.model(batch).mean().backward()
        self.update()

    def update(self):
        clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
