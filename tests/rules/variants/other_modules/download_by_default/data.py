from torchvision import datasets


def get_data(root, download=True):
    return datasets.CIFAR100(root, download=download)  # expect: DST415
