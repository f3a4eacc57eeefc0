def main(model, loader, opt):
    running, seen, sums = 0.0, [], {"total": 0.0}
    for x in loader:
        losses = model(x)
        losses["total"] = losses["box"] + losses["mask"]
        opt.zero_grad()
        losses["total"].backward()
        opt.step()
        running += losses["total"]  # expect: DST307
        seen.append(losses["total"])  # expect: DST307
        sums["total"] += losses["total"]  # expect: DST307
    return running, seen, sums
