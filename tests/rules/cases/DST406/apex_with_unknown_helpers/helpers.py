import torch
from elsewhere import *
