import torch
from training import Training

Training(torch.nn.Linear(2, 2), None).fit(range(10))
