import torch
import torch.distributed as dist

dist.init_process_group("nccl")
device = torch.device("cuda", number)


def main(net, found):
    net.load_state_dict(torch.load("a.pt"))  # expect: DST404
    found = found.cpu().numpy()
    torch.save(found, "a.pt")


main(net, found)
