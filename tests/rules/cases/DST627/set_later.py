from accelerate import Accelerator

accelerator = Accelerator()


def main(args, model, loader):
    accelerator.gradient_accumulation_steps = args.n_accumulate
    for batch in loader:
        loss = model(batch).mean() / args.n_accumulate  # expect: DST627
        accelerator.backward(loss)
