import torch


class Monitor:
    def __init__(self, net):
        self.net = net

    def on_epoch_end(self):
        with torch.no_grad():
            self.net(torch.ones(4, 3))
