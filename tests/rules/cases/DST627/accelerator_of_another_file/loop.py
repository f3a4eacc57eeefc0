def run(accelerator, args):
    model, loader, optimizer = accelerator.prepare(*args.objects)
    for batch in loader:
        loss = model(**batch).loss
        loss = loss / args.accumulation  # expect: DST627
        accelerator.backward(loss)
        optimizer.step()
