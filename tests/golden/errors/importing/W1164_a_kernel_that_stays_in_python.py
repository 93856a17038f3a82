import torch

lib = torch.library.Library("demo", "DEF")
lib.define("scale(Tensor x, float by) -> Tensor")
lib.impl("scale", lambda x, by: x * by, "CPU")
