import torch

scaler = torch.cuda.amp.GradScaler()  # expect: DST607
with torch.cuda.amp.autocast():  # expect: DST607
    pass
