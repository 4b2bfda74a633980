"""What is refused in one line, and conversions that meet each other's modules."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from gateproof.kernels.convert.api import convert

X = torch.linspace(-2, 2, 12).reshape(3, 4)


def net():
    return nn.Sequential(nn.Linear(4, 4), nn.SiLU(), nn.Sequential(nn.GELU()))


def failing(output):
    raise KeyError("logits")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dtypes": ()}, "dtypes is empty"),
        ({"controls": -1}, "controls"),
        ({"controls": 1.5}, "controls"),
        ({"controls": True}, "controls"),
        ({"loss": failing}, "loss does not run on the network's output: KeyError"),
        ({"loss": lambda y: y}, "a tensor of one number"),
        ({"inputs": torch.randn(3, 5)}, "the original network does not run on inputs 0: RuntimeError"),
        ({"inputs": [X, torch.randn(5)]}, "does not run on inputs 1"),
        ({"inputs": []}, "empty list"),
    ],
)
def test_a_proof_of_nothing_is_refused(options, words):
    found = convert(net(), inputs=X)
    with pytest.raises(ValueError, match=words) as refused:
        found.proof(**options)
    assert "\n" not in str(refused.value)
    assert found.report.converted[0].kind == "silu"


def test_one_type_by_name_and_no_controls():
    proof = convert(net(), inputs=X).proof(dtypes="float32", controls=0)
    assert proof.holds
    assert [(t.dtype, t.controls) for t in proof.types] == [("float32", ())]


def test_no_inputs_are_no_inputs():
    with pytest.raises(ValueError, match="inputs is an empty list"):
        convert(net(), inputs=[])


def test_a_module_that_was_taken_out_is_given_back():
    model = net()
    found = convert(model)
    out = model[1]
    model[1] = nn.Identity()
    found.revert()
    assert type(out) is nn.SiLU


def test_a_conversion_does_not_undo_a_later_one():
    model = net()
    first = convert(model, inputs=X)
    part = convert(model[2], inputs=X)
    with pytest.raises(ValueError, match=r"later conversion has taken over 2\.0; revert") as refused:
        first.revert()
    assert "\n" not in str(refused.value)
    assert part.report.converted
    part.revert()
    assert type(first.revert()[2][0]) is nn.GELU
    assert type(model[1]) is nn.SiLU
