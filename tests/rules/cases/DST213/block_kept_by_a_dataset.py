import glob
from accelerate import Accelerator, PartialState
from torch.utils.data import DataLoader, Dataset


class Mine(Dataset):
    def __init__(self, pattern):
        state = PartialState()
        paths = sorted(glob.glob(pattern))
        per = len(paths) // state.num_processes
        self.paths = paths[state.process_index * per : (state.process_index + 1) * per]


def train(net):
    accelerator = Accelerator()
    dl = DataLoader(Mine("*.png"), batch_size=16, shuffle=True)
    net = accelerator.prepare(net)
    dl = accelerator.prepare(dl)  # expect: DST213
    for x in dl:
        accelerator.backward(net(x).mean())
