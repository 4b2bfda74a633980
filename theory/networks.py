"""Shapes of six published networks, built from their configurations, and what gates cost there.

Sources of the configurations: He et al. 2016, table 1 (ResNet-50, with the stride in the 3x3
convolution as torchvision has it); Tan and Le 2019, table 1 (EfficientNet-B0; squeeze to a
quarter of the block's input); Dosovitskiy et al. 2021, table 1 (ViT-B/16); Radford et al. 2019
(GPT-2, smallest); the models' own config.json (SmolLM-135M, TinyLlama-1.1B).

``fed_by`` of a layer says what it multiplies:

- ``activation``: numbers that an activation has just produced;
- ``activation, max``, ``activation, mean``: the same behind a maximum or mean over places. The
  gate moves behind a maximum only where it is increasing (ReLU, not SiLU); before a mean it
  stays on every place;
- ``product``: an activation times something else (SwiGLU's product, a squeeze-and-excitation
  scale). The gate acts on one factor only, so the layer is none of the paper's form;
- ``input``, ``normalisation``, ``attention``, ``linear``: no activation there.

An activation of ResNet-50 feeds the skip connection as well as a convolution; there it needs a
gate without weights (see :mod:`gateproof.theory.cascade`), which these counts leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gateproof.theory.cost_ladder import Cost, Layer, Scope, Tier, cost, plain, total

GATED = ("activation", "activation, max", "activation, mean")


@dataclass(frozen=True)
class Network:
    """Layers with weights, other parameters by name, multiply-adds between activations.

    ``products`` counts scores and mixtures of attention, where both factors are computed.
    """

    name: str
    layers: tuple[Layer, ...]
    other: tuple[tuple[str, int], ...]
    products: int = 0

    @property
    def parameters(self) -> int:
        """All parameters; a tied head counts once."""
        return sum(layer.parameters for layer in self.layers) + sum(n for _, n in self.other)

    @property
    def multiply_adds(self) -> int:
        """Of one input (an image, a text of the given length), products of attention included."""
        return sum(layer.multiply_adds for layer in self.layers) + self.products

    def fed_by(self, *kinds: str) -> tuple[Layer, ...]:
        """The layers with such inputs."""
        return tuple(layer for layer in self.layers if layer.fed_by in kinds)

    @property
    def gated(self) -> tuple[Layer, ...]:
        """The layers with an activation on their inputs."""
        return self.fed_by(*GATED)


def network_cost(
    network: Network,
    tier: Tier,
    branches: int = 2,
    scope: Scope = "layer",
    kinds: tuple[str, ...] = GATED,
) -> Cost:
    """The network with gates on the inputs of the layers fed by ``kinds``, all else as it was."""
    gated = network.fed_by(*kinds)
    rest = total(plain(layer) for layer in network.layers if layer not in gated)
    other = sum(n for _, n in network.other)
    fixed = Cost(other, 0, 0, network.products, 0)
    return rest + fixed + total(cost(layer, tier, branches, scope) for layer in gated)


def resnet50(side: int = 224, classes: int = 1000) -> Network:
    """He et al. 2016; convolutions without bias, two numbers a channel of batch normalisation."""
    layers: list[Layer] = []
    norms = 0

    def conv(name: str, out: int, into: int, kernel: int, read: int, written: int, fed: str) -> None:
        nonlocal norms
        norms += 2 * out
        layers.append(Layer(name, out, into, kernel**2, 1, False, written**2, read**2, fed))

    width, size = 64, side // 2
    conv("conv1", width, 3, 7, side, size, "input")
    size //= 2
    channels = width
    for stage, blocks in enumerate((3, 4, 6, 3)):
        inner = width * 2**stage
        for block in range(blocks):
            name = f"layer{stage + 1}.{block}"
            stride = 2 if block == 0 and stage > 0 else 1
            fed = "activation, max" if stage == block == 0 else "activation"
            after = size // stride
            conv(f"{name}.conv1", inner, channels, 1, size, size, fed)
            conv(f"{name}.conv2", inner, inner, 3, size, after, "activation")
            conv(f"{name}.conv3", 4 * inner, inner, 1, after, after, "activation")
            if block == 0:
                conv(f"{name}.downsample", 4 * inner, channels, 1, size, after, fed)
            channels, size = 4 * inner, after
    layers.append(Layer("fc", classes, channels, reads=size**2, fed_by="activation, mean"))
    return Network("ResNet-50", tuple(layers), (("batch normalisation", norms),))


_MBCONV = (
    # expansion, kernel, stride, channels, repeats
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)


def efficientnet_b0(side: int = 224, classes: int = 1000) -> Network:
    """Tan and Le 2019: depthwise convolutions in blocks with squeeze and excitation."""
    layers: list[Layer] = []
    norms = 0

    def conv(
        name: str, out: int, into: int, kernel: int, groups: int, read: int, written: int, fed: str
    ) -> None:
        nonlocal norms
        norms += 2 * out
        layers.append(Layer(name, out, into, kernel**2, groups, False, written**2, read**2, fed))

    channels, size = 32, side // 2
    conv("stem", channels, 3, 3, 1, side, size, "input")
    for stage, (expansion, kernel, stride, out, repeats) in enumerate(_MBCONV):
        for block in range(repeats):
            name = f"blocks.{stage}.{block}"
            after = size // (stride if block == 0 else 1)
            wide = channels * expansion
            squeezed = channels // 4
            if expansion > 1:
                conv(f"{name}.expand", wide, channels, 1, 1, size, size, "linear")
            conv(f"{name}.depthwise", wide, wide, kernel, wide, size, after, "activation")
            layers.append(Layer(f"{name}.squeeze", squeezed, wide, reads=after**2, fed_by="activation, mean"))
            layers.append(Layer(f"{name}.excite", wide, squeezed))
            conv(f"{name}.project", out, wide, 1, 1, after, after, "product")
            channels, size = out, after
    conv("head", 1280, channels, 1, 1, size, size, "linear")
    layers.append(Layer("fc", classes, 1280, reads=size**2, fed_by="activation, mean"))
    return Network("EfficientNet-B0", tuple(layers), (("batch normalisation", norms),))


def vit_b16(side: int = 224, classes: int = 1000) -> Network:
    """Dosovitskiy et al. 2021: 12 blocks of width 768, patches of 16 x 16, one class token."""
    width, depth, inner, patch = 768, 12, 3072, 16
    patches = (side // patch) ** 2
    tokens = patches + 1
    layers = [Layer("patches", width, 3, patch**2, 1, True, patches, side**2, "input")]
    for i in range(depth):
        layers += _block(f"blocks.{i}", width, inner, tokens)
    layers.append(Layer("head", classes, width, fed_by="normalisation"))
    other = (
        ("class token", width),
        ("positions", tokens * width),
        ("layer normalisation", (2 * depth + 1) * 2 * width),
    )
    return Network("ViT-B/16", tuple(layers), other, depth * 2 * tokens**2 * width)


def gpt2(context: int = 1024, vocabulary: int = 50257) -> Network:
    """Radford et al. 2019, the smallest: 12 blocks of width 768; the head is the embedding."""
    width, depth, inner, positions = 768, 12, 3072, 1024
    layers: list[Layer] = []
    for i in range(depth):
        layers += _block(f"h.{i}", width, inner, context)
    other = (
        ("embedding and head", vocabulary * width),
        ("positions", positions * width),
        ("layer normalisation", (2 * depth + 1) * 2 * width),
    )
    head = context * vocabulary * width
    return Network("GPT-2 124M", tuple(layers), other, depth * 2 * context**2 * width + head)


def _block(name: str, width: int, inner: int, tokens: int) -> list[Layer]:
    """Attention with one projection to queries, keys and values, then a two-layer FFN."""
    return [
        _linear(f"{name}.qkv", 3 * width, width, tokens, "normalisation", True),
        _linear(f"{name}.attention_out", width, width, tokens, "attention", True),
        _linear(f"{name}.up", inner, width, tokens, "normalisation", True),
        _linear(f"{name}.down", width, inner, tokens, "activation", True),
    ]


def _linear(name: str, out: int, into: int, tokens: int, fed: str, bias: bool = False) -> Layer:
    return Layer(name, out, into, 1, 1, bias, tokens, tokens, fed)


def llama(
    name: str,
    *,
    vocabulary: int,
    width: int,
    inner: int,
    depth: int,
    heads: int,
    key_heads: int,
    tied: bool,
    context: int = 2048,
) -> Network:
    """A decoder of the Llama kind: no bias, RMS normalisation, rotary positions, SwiGLU.

    Raises ValueError where heads do not divide the width or key heads the heads.
    """
    if width % heads or heads % key_heads:
        raise ValueError("heads divide the width, key heads the heads")
    keys = width // heads * key_heads
    layers: list[Layer] = []
    for i in range(depth):
        block = f"layers.{i}"
        layers += [
            _linear(f"{block}.q", width, width, context, "normalisation"),
            _linear(f"{block}.k", keys, width, context, "normalisation"),
            _linear(f"{block}.v", keys, width, context, "normalisation"),
            _linear(f"{block}.o", width, width, context, "attention"),
            _linear(f"{block}.gate", inner, width, context, "normalisation"),
            _linear(f"{block}.up", inner, width, context, "normalisation"),
            _linear(f"{block}.down", width, inner, context, "product"),
        ]
    other = [("embedding", vocabulary * width), ("RMS normalisation", (2 * depth + 1) * width)]
    products = depth * 2 * context**2 * width
    if tied:
        products += context * vocabulary * width
    else:
        layers.append(_linear("head", vocabulary, width, context, "normalisation"))
    return Network(name, tuple(layers), tuple(other), products)


def smollm_135m() -> Network:
    """SmolLM-135M from its configuration; embedding and head are one matrix."""
    return llama(
        "SmolLM-135M",
        vocabulary=49152,
        width=576,
        inner=1536,
        depth=30,
        heads=9,
        key_heads=3,
        tied=True,
    )


def tinyllama_1b() -> Network:
    """TinyLlama-1.1B from its configuration; the head is a matrix of its own."""
    return llama(
        "TinyLlama-1.1B",
        vocabulary=32000,
        width=2048,
        inner=5632,
        depth=22,
        heads=32,
        key_heads=4,
        tied=False,
    )


BUILDERS: tuple[Callable[[], Network], ...] = (
    resnet50,
    efficientnet_b0,
    vit_b16,
    gpt2,
    smollm_135m,
    tinyllama_1b,
)


def all_networks() -> Iterable[Network]:
    """The six networks in the order of the paper's conversion table."""
    return (build() for build in BUILDERS)
