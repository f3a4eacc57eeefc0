from setuptools import setup

setup(name="ours", install_requires=["torch>=1.8"])
