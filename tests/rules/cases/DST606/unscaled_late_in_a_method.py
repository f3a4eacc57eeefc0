from torch.nn.utils import clip_grad_norm_


class Late:
    def backward(self, loss):
        self.scaler.scale(loss).backward()

    def update(self):
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST606
        self.scaler.unscale_(self.optimizer)
        self.scaler.step(self.optimizer)
        self.scaler.update()
