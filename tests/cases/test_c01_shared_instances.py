"""C01: CLIP#239, open_clip#78, captum#200: one activation instance under several names, used repeatedly."""

from __future__ import annotations

import torch
from torch import nn

from gateproof import convert


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.act = nn.Linear(3, 3), nn.Linear(3, 3), nn.ReLU()
        self.alias = self.act
        self.seq = nn.Sequential(self.a, self.act, self.b, self.act)

    def forward(self, x):
        return self.alias(self.seq(x)) + self.act(x)


def test_all_names_share_one_gate():
    torch.manual_seed(0)
    model, x = Shared(), torch.randn(4, 3)
    right = model(x)
    found = convert(model, inputs=x)
    (row,) = found.report.rows
    assert sorted(row.names) == ["act", "alias", "seq.1", "seq.3"]
    assert row.calls == 4
    assert torch.equal(model(x), right)
    assert found.census.agrees
    assert found.census.original == {"relu": 4}
    named = list(model.named_modules(remove_duplicate=False))
    assert not any(isinstance(m, nn.ReLU) for _, m in named)
    assert model.act is model.alias is model.seq[1] is model.seq[3]
    found.revert()
    assert type(model.act) is nn.ReLU
    assert model.act is model.alias is model.seq[1] is model.seq[3]
