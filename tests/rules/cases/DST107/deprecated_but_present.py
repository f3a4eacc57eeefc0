from accelerate.utils import FP8RecipeKwargs

print(FP8RecipeKwargs())
