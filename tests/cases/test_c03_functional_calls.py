"""C03: pytorch-image-models#1967, libreyolo#500: functional and hand-written activations are no modules."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - as the code of networks has it

from gateproof import convert


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.l, self.z = nn.Linear(3, 3), torch.zeros(3)

    def forward(self, x):
        a = F.relu(self.l(x))
        b = torch.relu(self.l(x))
        c = self.l(x).relu()
        d = self.l(x).clamp(min=0)
        e = torch.maximum(self.l(x), self.z)
        f = self.l(x) * torch.sigmoid(self.l(x))
        g = F.threshold(self.l(x), 0.0, 0.0)
        h = self.l(x) * 0.5 * (1 + torch.erf(self.l(x) / 2**0.5))
        k = F.relu_(self.l(x).clone())
        return a + b + c + d + e + f + g + h + k


#: What the dispatcher runs for the nine, counted by hand.
OPERATORS = {"relu": 3, "clamp": 1, "maximum": 1, "sigmoid": 1, "threshold": 1, "erf": 1, "relu_": 1}


def test_nine_of_nine():
    torch.manual_seed(0)
    model, x = Functional(), torch.randn(64, 3)
    right = model(x)
    found = convert(model, inputs=x)
    assert found.census.original == OPERATORS
    assert found.census.left == {}
    assert found.census.agrees
    assert not found.report.kept
    # Two of the nine are products of a gate with what the layer gives in another call: rows of their own.
    products = [row for row in found.report if row.kind == "gate product"]
    assert len(found.report.converted) == 9 + len(products)
    assert len({row.place for row in found.report}) == 9
    assert sorted(row.place.rpartition(":")[2] for row in products) == ["23)", "25)"]
    assert all("test_c03_functional_calls.py" in row.place for row in found.report)
    torch.testing.assert_close(model(x), right, rtol=0, atol=2e-7)
