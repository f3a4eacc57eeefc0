from accelerate import Accelerator


def train(args, model, loader, optimizer):
    accelerator = Accelerator(gradient_accumulation_steps=args.grad_steps)
    model, loader, optimizer = accelerator.prepare(model, loader, optimizer)
    for batch in loader:
        with accelerator.accumulate(model):
            objective = model(**batch).loss
            objective /= args.grad_steps  # expect: DST627
            accelerator.backward(objective)
            optimizer.step()
            optimizer.zero_grad()
