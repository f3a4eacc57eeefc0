import torch
from horovod import torch as hvd


def main(opts):
    hvd.init()
    device = torch.device("cuda")
    model = torch.nn.Linear(3, 3)
    model.load_state_dict(torch.load(f"{opts.train_dir}/model.pt"), strict=False)
    model.to(device)
