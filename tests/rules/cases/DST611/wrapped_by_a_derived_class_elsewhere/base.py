from torch.nn.utils import clip_grad_norm_


class Base:
    def step(self, x):
        self.model(x).sum().backward()
        clip_grad_norm_(self.model.parameters(), 1.0)  # expect: DST611
