"""List the operators in the graph of a model, as docs/guides/torch-backends.md describes."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y) * y + 1


exported = torch.export.export(Model(), (torch.ones(2), torch.ones(2)))
for node in exported.graph.nodes:
    if node.op == "call_function":
        print(node.target)
