def adjust_learning_rate(optimizer, epoch):
    rate = 0.1 * 0.5**epoch
    for group in optimizer.param_groups:
        group["lr"] = rate
    return rate
