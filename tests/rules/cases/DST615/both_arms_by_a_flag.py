import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.utils import clip_grad_norm_


class Trainer:
    def fit(self, loader):
        for index, batch in enumerate(loader):
            update = (index + 1) % self.steps == 0 or index + 1 == len(loader)
            loss = self.net(batch).mean() / self.steps
            if update:
                loss.backward()
                clip_grad_norm_(self.net.parameters(), 1.0)
                self.optimizer.step()
                self.optimizer.zero_grad()
            else:
                loss.backward()
                norm = clip_grad_norm_(self.net.parameters(), 1.0)  # expect: DST615
                print(norm)
