"""The shape of a model: how many layers it has, how wide they are, how they are quantized."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Quantization:
    """How the values of a tensor are stored: in blocks with a scale.

    Attributes:
        code: The number of the type in a GGUF file.
        n_values: The number of values in a block.
        n_bytes: The size of a block.
        scales: The byte offset in a block of each 16-bit scale, and a usual value of it.
    """

    code: int
    n_values: int
    n_bytes: int
    scales: tuple[tuple[int, float], ...] = ()


F32 = Quantization(0, 1, 4)
Q4_1 = Quantization(3, 32, 20, ((0, 2**-4.3), (2, -(2**-1.4))))
Q8_0 = Quantization(8, 32, 34, ((0, 2**-8.6),))
Q4_K = Quantization(12, 256, 144, ((0, 2**-13.3), (2, 2**-10.3)))
Q6_K = Quantization(14, 256, 210, ((208, 2**-16.5),))


@dataclass(frozen=True, slots=True)
class Tensor:
    """One tensor of a model.

    Attributes:
        name: The name that its architecture gives it.
        sizes: The dimensions, the row first.
        quantization: How it is stored.
    """

    name: str
    sizes: tuple[int, ...]
    quantization: Quantization

    @property
    def n_bytes(self) -> int:
        """The size in a file."""
        return prod(self.sizes) // self.quantization.n_values * self.quantization.n_bytes


@dataclass(frozen=True, slots=True)
class ModelShape:
    """What decides the speed of a model, but for the machine.

    Attributes:
        architecture: The family, as its GGUF file names it.
        n_layers: The number of layers.
        width: The length of an embedding.
        inner_width: The length of a vector inside a layer.
        n_heads: The number of attention heads.
        n_cached_heads: The number of heads of which keys and values are kept.
        n_tokens: The size of the vocabulary.
        embedding: How the embeddings are stored.
        output: How the output matrix is stored; None if it is that of the embeddings.
        matrix: How the matrices of a layer are stored.
        wide_matrix: How the values and the last matrix of each second layer are stored.
        has_bias: Whether queries, keys and values have a bias.
    """

    architecture: str
    n_layers: int
    width: int
    inner_width: int
    n_heads: int
    n_cached_heads: int
    n_tokens: int
    embedding: Quantization
    output: Quantization | None
    matrix: Quantization
    wide_matrix: Quantization
    has_bias: bool

    @property
    def n_bytes(self) -> int:
        """The size of all tensors in a file."""
        return sum(tensor.n_bytes for tensor in self.tensors())

    def tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of a model of this shape."""
        yield Tensor("token_embd.weight", (self.width, self.n_tokens), self.embedding)
        if self.output is not None:
            yield Tensor("output.weight", (self.width, self.n_tokens), self.output)
        yield Tensor("output_norm.weight", (self.width,), F32)
        for number in range(self.n_layers):
            for tensor in self._layer(self.wide_matrix if number % 2 else self.matrix):
                yield Tensor(f"blk.{number}.{tensor.name}", tensor.sizes, tensor.quantization)

    def _layer(self, some: Quantization) -> Iterator[Tensor]:
        """Yield the tensors of a layer whose values and last matrix are stored in this way."""
        width, inner = self.width, self.inner_width
        cached = width // self.n_heads * self.n_cached_heads
        yield Tensor("attn_norm.weight", (width,), F32)
        yield Tensor("attn_q.weight", (width, width), self.matrix)
        yield Tensor("attn_k.weight", (width, cached), self.matrix)
        yield Tensor("attn_v.weight", (width, cached), some)
        yield Tensor("attn_output.weight", (width, width), self.matrix)
        if self.has_bias:
            for name, size in (("q", width), ("k", cached), ("v", cached)):
                yield Tensor(f"attn_{name}.bias", (size,), F32)
        yield Tensor("ffn_norm.weight", (width,), F32)
        yield Tensor("ffn_gate.weight", (width, inner), self.matrix)
        yield Tensor("ffn_up.weight", (width, inner), self.matrix)
        yield Tensor("ffn_down.weight", (inner, width), some)
