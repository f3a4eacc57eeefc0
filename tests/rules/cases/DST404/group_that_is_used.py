import horovod.torch as hvd
import torch


def main(opts):
    hvd.init()
    torch.cuda.set_device(hvd.local_rank())
    model = torch.nn.Linear(3, 3).cuda()
    model.load_state_dict(torch.load(f"{opts.train_dir}/model.pt"))  # expect: DST404
