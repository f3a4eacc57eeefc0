from torch.utils.data import DataLoader, DistributedSampler


def make_loaders(images, texts, val_set):
    split = "train"
    image_loader = DataLoader(images[split], 8, shuffle=True)  # expect: DST202
    text_loader = DataLoader(texts[split], 8, shuffle=True)  # expect: DST202
    val_sampler = DistributedSampler(val_set, shuffle=False)
    return image_loader, text_loader, DataLoader(val_set, 8, sampler=val_sampler)
