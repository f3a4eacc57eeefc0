"""The main process waits for everyone before it saves; the others go on with the next step."""
# effect: hang
# needs: accelerate

import torch
from accelerate import Accelerator


def main(steps=4, save_every=2):
    accelerator = Accelerator(cpu=True)
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model, optimizer = accelerator.prepare(model, optimizer)
    for step in range(1, steps + 1):
        loss = model(torch.ones(1, 2)).sum()
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        if accelerator.is_main_process and step % save_every == 0:  # expect: DST101
            accelerator.wait_for_everyone()
            print(accelerator.unwrap_model(model).state_dict())


if __name__ == "__main__":
    main()
