net.load_state_dict(torch.load("final.pth"))
net = DDP(net)
