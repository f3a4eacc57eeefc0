import os

import torch


def load(optimizer, helper, folder, index):
    optimizer_name = f"optimizer_{index}_rank{helper.process_index}.bin"
    file = os.path.join(folder, optimizer_name)
    state = torch.load(file, weights_only=True)
    optimizer.load_state_dict(state)
