import torch


class Scaler:
    def __init__(self):
        self._scaler = torch.amp.GradScaler()

    def __call__(self, loss, optimizer, parameters=None, update=True):
        self._scaler.scale(loss).backward()
        if update:
            self._scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            self._scaler.step(optimizer)
            self._scaler.update()
