setup(install_requires=["accelerate", "numpy<1"])
