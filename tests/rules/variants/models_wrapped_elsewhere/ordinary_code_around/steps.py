import logging
import time

import torch

logger = logging.getLogger(__name__)


def train_one_epoch(model, criterion, loader, optimizer, scaler, epoch, args):
    model.train()
    started = time.time()
    total, count = 0.0, 0
    for step, (images, labels) in enumerate(loader):
        images, labels = images.cuda(non_blocking=True), labels.cuda(non_blocking=True)
        with torch.autocast("cuda", enabled=args.amp):
            loss = criterion(model(images), labels)
        if not torch.isfinite(loss):
            logger.warning("loss is %s, skipped", loss.item())
            optimizer.zero_grad()
            continue
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        total, count = total + loss.item(), count + 1
        if step % args.print_freq == 0:
            logger.info("%d %d %.4f %.1f s", epoch, step, total / count, time.time() - started)
    return total / max(count, 1)
