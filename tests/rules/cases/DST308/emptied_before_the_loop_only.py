import torch


def main(model, loader, optimizer, scheduler, n=4):
    for epoch in range(3):
        optimizer.zero_grad()
        for i, x in enumerate(loader):
            loss = model(x).mean() / n
            loss.backward()
            if (i + 1) % n == 0 or i + 1 == len(loader):
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()  # expect: DST308
                scheduler.step()
