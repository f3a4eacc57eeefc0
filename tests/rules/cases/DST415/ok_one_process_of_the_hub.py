import torch

model = torch.nn.DataParallel(torch.hub.load("facebookresearch/dinov2", "dinov2_vits14"))
print(model)
