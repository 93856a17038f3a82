"""What the graph of a model calls, as docs/torch-backends.md says to list it."""

import torch


class Model(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(x + y) * y + 1


exported = torch.export.export(Model(), (torch.ones(2), torch.ones(2)))
for node in exported.graph.nodes:
    if node.op == "call_function":
        print(node.target)
