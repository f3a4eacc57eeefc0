from torchvision import datasets


def get_data(root):
    return datasets.CIFAR100(root, download=True)  # expect: DST415
