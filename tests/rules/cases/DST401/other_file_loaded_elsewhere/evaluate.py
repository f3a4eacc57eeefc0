net = DDP(net)
net.load_state_dict(torch.load("best.pth"))
