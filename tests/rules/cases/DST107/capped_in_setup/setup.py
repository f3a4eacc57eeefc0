setup(install_requires=["accelerate>=0.16,<1.0", "numpy"])
