from accelerate import Accelerator, skip_first_batches
from tqdm import tqdm


def main(args, model, optimizer, loader):
    accelerator = Accelerator()
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first, skipped = args.first_epoch, args.skipped
    loader = skip_first_batches(loader, skipped)  # expect: DST217
    for epoch in tqdm(range(first, args.epochs)):
        bar = tqdm(loader, disable=not accelerator.is_main_process)
        for batch in bar:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
