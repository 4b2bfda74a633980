"""A linear map that skips zeros of its input: ``sparse_linear`` and ``SparseLinear``.

On a CPU the rows are taken in blocks of ``tokens``. Of each, columns are skipped in blocks of ``features``
that are zero throughout (slices of the weight, nothing is copied), or, where few entries are left, single
rows of the weight are added up, one a nonzero entry; what a dense product does faster is left to it, and
all of float16 and bfloat16. The limits below were measured (docs/benchmarks-kernels-sparse.md). The Triton
form skips zero tiles of the summed dimension.

Where y is 0 the weight is not read: an infinite or not-a-number weight may have no effect there, though 0
times it is not-a-number in a dense product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn.functional import embedding_bag, linear, pad

from gateproof.kernels import choice
from gateproof.kernels.arguments import check
from gateproof.kernels.pointwise import LIBRARY
from gateproof.kernels.precision import autocasts, own_types

TOKENS, FEATURES = 64, 32
_SIZES = (16, 32, 64, 128)
#: A weight's row a nonzero entry pays up to (1.5 + tokens/6) full rows of y; slices of a weight whose outputs
#: do not follow one another pay for few tokens only where half is dead.
_ENTRIES, _PER_TOKEN, _HALF, _FEW = 1.5, 1 / 6, 0.5, 8
_WIDE = (torch.float32, torch.float64)


def live_blocks(y: torch.Tensor, tokens: int, features: int) -> torch.Tensor:
    """Which blocks of a matrix hold anything but 0: bools of shape (row blocks, column blocks)."""
    rows, cols = y.shape
    if rows % tokens or cols % features:
        y = pad(y, (0, -cols % features, 0, -rows % tokens))
    # not-a-number is not 0.
    blocks = y.reshape(y.shape[0] // tokens, tokens, y.shape[1] // features, features)
    return torch.ne(blocks.abs().amax((1, 3)), 0)


def _by_entries(y: torch.Tensor, rows_of: torch.Tensor, _: Any, __: int, out: torch.Tensor) -> None:
    """Rows of the transposed weight added up."""
    token, feature = y.nonzero().unbind(1)
    ends = torch.searchsorted(token, torch.arange(y.shape[0]))
    out.copy_(embedding_bag(feature, rows_of, ends, mode="sum", per_sample_weights=y[token, feature]))


def _by_slices(
    y: torch.Tensor, rows_of: torch.Tensor, live: torch.Tensor, features: int, out: torch.Tensor
) -> None:
    """Runs of live columns, one product each."""
    out.zero_()
    edges = torch.diff(pad(live.to(torch.int8), (1, 1)))
    for first, end in zip((edges == 1).nonzero().tolist(), (edges == -1).nonzero().tolist(), strict=True):
        part = slice(first[0] * features, min(end[0] * features, y.shape[1]))
        out.addmm_(y[:, part], rows_of[part])


def _pays(y: torch.Tensor, rows_of: torch.Tensor, live: torch.Tensor) -> Any:
    """The form that pays for a block of tokens, or None where that is the dense one."""
    share, tokens = live.to(torch.float64).mean().item(), y.shape[0]
    if rows_of.is_contiguous():
        entries = torch.count_nonzero(y).item() / y.shape[1]
        if entries <= share * (_ENTRIES + _PER_TOKEN * tokens):
            return _by_entries
    elif share > _HALF and tokens < _FEW:
        return None
    return None if share == 1 else _by_slices


def _on_cpu(y: torch.Tensor, weight: torch.Tensor, tokens: int, features: int) -> torch.Tensor:
    rows_of, out = weight.t(), y.new_empty(y.shape[0], weight.shape[0])
    whole = y.shape[0] - y.shape[0] % tokens
    parts = [(p, live_blocks(p, min(tokens, len(p)), features)) for p in (y[:whole], y[whole:]) if len(p)]
    dense = at = 0
    for part, alive in parts:
        for block, live in zip(part.split(tokens), alive, strict=True):
            form, end = _pays(block, rows_of, live), at + len(block)
            if form is not None:
                # Blocks without a form of their own are one product.
                torch.mm(y[dense:at], rows_of, out=out[dense:at])
                form(block, rows_of, live, features, out[at:end])
                dense = end
            at = end
    if not dense:
        return linear(y, weight)
    torch.mm(y[dense:], rows_of, out=out[dense:])
    return out


def _value(
    y: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, tokens: int, features: int
) -> torch.Tensor:
    with own_types(y.device.type):
        return _product(y, weight, bias, tokens, features)


def _product(
    y: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, tokens: int, features: int
) -> torch.Tensor:
    code = choice.code_for(y.device.type)
    if not y.numel() or not weight.numel():
        out = y.new_zeros(y.shape[0], weight.shape[0])
        return out if bias is None else out + bias
    if code == "triton" and y.dtype != torch.float64:
        from gateproof.kernels import sparse_triton

        return sparse_triton.run(y, weight, bias, live_blocks(y, tokens, features), tokens, features)
    if y.device.type != "cpu" or y.dtype not in _WIDE:
        # In 16 bits sums of several products would be rounded in between, and copies of columns do not pay.
        return linear(y, weight, bias)
    found = _on_cpu(y, weight, tokens, features)
    return found if bias is None else found + bias


def _fake(y: Any, weight: Any, bias: Any, tokens: int, features: int) -> torch.Tensor:
    _ = bias, tokens, features
    return y.new_empty((y.shape[0], weight.shape[0]))  # type: ignore[no-any-return]


def _vmapped(info: Any, dims: Any, *args: Any) -> Any:
    call, size = torch.ops.gateproof.sparse_linear.default, info.batch_size
    y, weight, bias, *blocks = args
    y = y.unsqueeze(0).expand(size, *y.shape) if dims[0] is None else y.movedim(dims[0], 0)
    if dims[1] is None and dims[2] is None:
        return call(y.flatten(0, 1), weight, bias, *blocks).unflatten(0, (size, -1)), 0
    weights = [weight] * size if dims[1] is None else weight.unbind(dims[1])
    biases = [bias] * size if dims[2] is None else bias.unbind(dims[2])
    return torch.stack([call(a, w, b, *blocks) for a, w, b in zip(y, weights, biases, strict=True)]), 0


LIBRARY.define(
    "sparse_linear(Tensor y, Tensor weight, Tensor? bias, int tokens, int features) -> Tensor",
    tags=(torch.Tag.pt2_compliant_tag,),
)
for _key in ("CPU", "CUDA"):
    LIBRARY.impl("sparse_linear", _value, _key)
torch.library.register_fake("gateproof::sparse_linear", _fake, lib=LIBRARY)
torch.library.register_vmap("gateproof::sparse_linear", _vmapped, lib=LIBRARY)
_CALL = torch.ops.gateproof.sparse_linear.default


class _Traced(torch.autograd.Function):
    @staticmethod
    def forward(y: Any, weight: Any, bias: Any, tokens: int, features: int) -> Any:
        return _CALL(y, weight, bias, tokens, features)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _ = output
        ctx.save_for_backward(*inputs[:2])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        (dout,), (y, weight), wanted = grad_outputs, ctx.saved_tensors, ctx.needs_input_grad
        with own_types(y.device.type):
            dy = dout @ weight if wanted[0] else None
            dweight = dout.t() @ y if wanted[1] else None
            return dy, dweight, dout.sum(0) if wanted[2] else None, None, None


class _Full(_Traced):
    """In forward mode too."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _ = output
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        (y, weight), (dy, dweight, dbias) = ctx.saved_tensors, grad_inputs[:3]
        terms = [] if dy is None else [dy @ weight.t()]
        terms += [] if dweight is None else [y @ dweight.t()]
        terms += [] if dbias is None else [dbias.expand(y.shape[0], -1)]
        return sum(terms[1:], terms[0])


def sparse_linear(
    y: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None = None,
    *,
    block: tuple[int, int] = (TOKENS, FEATURES),
) -> torch.Tensor:
    """y weight^T + bias, without the zeros of y.

    y is (..., features), the weight (outputs, features), the bias (outputs,), of one type. ``block`` is
    (tokens, features), each 16, 32, 64 or 128: what is skipped is zero in all of it. Fastest where the
    outputs of the weight follow one another in memory, as ``SparseLinear`` keeps them. Gradients are those of
    the dense product, and dense. Raises ValueError for shapes, types or blocks that do not agree.
    """
    name = "sparse_linear"
    for label, t in (("y", y), ("weight", weight), ("bias", bias)):
        if label != "bias" or t is not None:
            check(name, label, t, y)
    device = y.device.type
    if autocasts(device):
        # As torch's own linear does.
        low = torch.get_autocast_dtype(device)
        y, weight, bias = y.to(low), weight.to(low), None if bias is None else bias.to(low)
    if weight.dim() != 2 or not y.dim() or y.shape[-1] != weight.shape[1]:
        raise ValueError(f"{name}: y {tuple(y.shape)} and weight {tuple(weight.shape)} do not agree")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"{name}: {weight.shape[0]} outputs, found a bias of shape {tuple(bias.shape)}")
    if weight.dtype != y.dtype or (bias is not None and bias.dtype != y.dtype):
        raise ValueError(f"{name}: one type for all, found {y.dtype} and {weight.dtype}")
    _check_block(name, block)
    kind = _Traced if torch.compiler.is_compiling() else _Full
    found: torch.Tensor = kind.apply(y.reshape(y.shape[:-1].numel(), y.shape[-1]), weight, bias, *block)
    return found if y.dim() == 2 else found.reshape((*y.shape[:-1], weight.shape[0]))


def _check_block(operation: str, block: Any) -> None:
    if not isinstance(block, tuple) or len(block) != 2 or any(b not in _SIZES for b in block):
        raise ValueError(f"{operation}: block is a pair of {', '.join(map(str, _SIZES))}, found {block!r}")


class SparseLinear(nn.Linear):
    """``nn.Linear`` that skips zeros of its input; in float32 outputs of its weight follow one another."""

    block: tuple[int, int] = (TOKENS, FEATURES)

    @classmethod
    def from_linear(cls, given: nn.Linear, *, block: tuple[int, int] = (TOKENS, FEATURES)) -> SparseLinear:
        """The same map; its weight is a copy, its bias shared."""
        if not isinstance(given, nn.Linear):
            raise TypeError(f"SparseLinear.from_linear: an nn.Linear, found {type(given).__name__}")
        _check_block("SparseLinear.from_linear", block)
        made = cls(given.in_features, given.out_features, given.bias is not None, device="meta")
        weight = given.weight.detach()
        # In 16 bits the usual order is the faster one for dense products.
        weight = weight.t().contiguous().t() if weight.dtype in _WIDE else weight.clone()
        made.weight = nn.Parameter(weight, requires_grad=given.weight.requires_grad)
        made.bias, made.block = given.bias, block
        return made.train(given.training)

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002 - its signature
        """The map of tensors (..., in_features)."""
        return sparse_linear(input, self.weight, self.bias, block=self.block)
