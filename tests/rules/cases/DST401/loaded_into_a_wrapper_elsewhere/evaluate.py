net = DDP(net)
net.load_state_dict(torch.load("final.pth"))
