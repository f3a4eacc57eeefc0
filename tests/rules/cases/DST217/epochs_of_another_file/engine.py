def fit(args, accelerator, model, optimizer, batches):
    for epoch in range(args.first_epoch, args.epochs):
        for batch in batches:
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
