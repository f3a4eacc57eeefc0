conda install pytorch==1.12.0 torchvision -c pytorch
