def main(model, loader, opt):
    running, seen, sums = 0.0, [], {}
    for x in loader:
        losses = model(x)
        sums["total"] = 0.0
        losses["total"] = losses["box"]
        losses["total"] += 0.1 * losses["mask"]
        opt.zero_grad()
        losses["total"].backward()
        opt.step()
        sums["total"] += losses["total"]
        seen.append(losses["total"].item())
        losses = {name: value.item() for name, value in losses.items()}
        running += losses["total"]
    for x in loader:
        losses = model(x)
        opt.zero_grad()
        losses["total"].backward()
        opt.step()
        for name in losses:
            losses[name] = losses[name].item()
        running += losses["total"]
    return running, seen, sums
