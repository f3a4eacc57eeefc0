#!/bin/bash
torchrun --nproc_per_node=8 remain.py
torchrun --nproc_per_node=8 main.pyc
