"""Metrics of similarity: Dice, cosine similarity, BLEU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int
from ...base.types import Array
from ...tensors.tensor import Tensor
from .metric import Metric, rearrange_inputs, register

__all__ = ["BleuScore", "CosineSimilarity", "Dice"]


@register("dice")
class Dice(Metric):
    """The Dice coefficient 2 * sum(pred * label) / (sum(pred^2) + sum(label^2) + smooth) of each batch.

    As in MindSpore the sum over batches is divided by the number of samples.

    Args:
        smooth: keeps the denominator from 0, a float above 0.

    Raises:
        TypeError: not a float.
        ValueError: a float that is not above 0.
    """

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        if not isinstance(smooth, float) or smooth <= 0:
            kind = TypeError if not isinstance(smooth, float) else ValueError
            raise kind(f"For 'Dice', 'smooth' must be a float above 0, but got {smooth!r}")
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        self._dice_coeff_sum: Any = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        y_pred, y = self._take(inputs, 2, "predictions, labels")
        if y_pred.shape != y.shape:
            raise ValueError(f"For 'Dice.update', predictions {y_pred.shape} and labels {y.shape} differ in shape")
        flat, real = y_pred.reshape(-1), y.reshape(-1)
        overlap = np.dot(flat, real)
        total = np.dot(flat, flat) + np.dot(real, real)
        self._dice_coeff_sum += 2 * float(overlap) / float(total + self.smooth)
        self._samples_num += y.shape[0]

    def eval(self) -> float:
        self._need(self._samples_num)
        return self._dice_coeff_sum / float(self._samples_num)


@register("cosine_similarity")
class CosineSimilarity(Metric):
    """The similarity of each row to each other row, of the last batch.

    Args:
        similarity: "cosine", or "dot" for the bare product.
        reduction: "none", "sum" or "mean" along the last axis.
        zero_diagonal: set the similarity of each row to itself to zero.

    Raises:
        TypeError: ``zero_diagonal`` is not a bool.
        ValueError: an unknown word.
    """

    def __init__(self, similarity: str = "cosine", reduction: str = "none", zero_diagonal: bool = True) -> None:
        super().__init__()
        for name, value, allowed in (
            ("similarity", similarity, ("dot", "cosine")),
            ("reduction", reduction, ("none", "sum", "mean")),
        ):
            if value not in allowed:
                raise ValueError(f"For 'CosineSimilarity', '{name}' must be one of {allowed}, but got {value!r}")
        check_bool(zero_diagonal, "CosineSimilarity", "zero_diagonal", show=repr)
        self.similarity, self.reduction, self.zero_diagonal = similarity, reduction, zero_diagonal
        self.clear()

    def clear(self) -> None:
        self.sqr_mtx_res: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, inputs: Tensor | Array | list[Any]) -> None:
        """Store one batch in place of the last.

        Args:
            inputs: the rows (N, D): a tensor, list or array.

        Raises:
            TypeError: the wrong type.
        """
        rows = self._convert_data(inputs)
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, ord=2, axis=1)[:, None]
        self.sqr_mtx_res = rows.dot(rows.T)
        self._is_update = True

    def eval(self) -> Array:
        self._need(self._is_update)
        matrix = np.array(self.sqr_mtx_res)
        if self.zero_diagonal:
            np.fill_diagonal(matrix, 0)
        if self.reduction == "none":
            return matrix
        return np.asarray(getattr(matrix, self.reduction)(axis=-1))


@register("bleu_score")
class BleuScore(Metric):
    """BLEU (Papineni et al. 2002) of translated sentences, each with its references; sentences are lists of words.

    Args:
        n_gram: the length of the longest compared sequence of words, 1 to 4.
        smooth: add one to each count (Lin and Och 2004).

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: ``n_gram`` is out of range.
    """

    def __init__(self, n_gram: int = 4, smooth: bool = False) -> None:
        super().__init__()
        check_int(n_gram, "BleuScore", "n_gram", show=repr)
        if not 1 <= n_gram <= 4:
            raise ValueError(f"For 'BleuScore', 'n_gram' must be from 1 to 4, but got {n_gram}")
        check_bool(smooth, "BleuScore", "smooth", show=repr)
        self.n_gram, self.smooth = n_gram, smooth
        self.clear()

    def clear(self) -> None:
        self._matched, self._of = np.zeros(self.n_gram), np.zeros(self.n_gram)
        self._length = self._reference_length = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        if len(inputs) != 2:
            raise ValueError(
                f"For 'BleuScore.update', there must be 2 inputs (candidates, references), but got {len(inputs)}"
            )
        candidates, references = inputs
        if len(candidates) != len(references):
            raise ValueError(
                f"For 'BleuScore.update', there are {len(candidates)} candidates, but references for {len(references)}"
            )
        for candidate, its_references in zip(candidates, references, strict=True):
            self._length += len(candidate)
            self._reference_length += min((len(r) for r in its_references), key=lambda n: abs(len(candidate) - n))
            for n in range(1, self.n_gram + 1):
                grams, allowed = _grams(candidate, n), Counter[tuple[Any, ...]]()
                for reference in its_references:
                    allowed |= _grams(reference, n)
                self._matched[n - 1] += (grams & allowed).total()
                self._of[n - 1] += grams.total()

    def eval(self) -> np.floating[Any] | Array:
        self._need(self._length)
        if self._matched.min() == 0:
            return np.array(0.0)
        precision = (self._matched + self.smooth) / (self._of + self.smooth)
        short = self._length <= self._reference_length
        brevity = np.exp(1 - self._reference_length / self._length) if short else 1.0
        return brevity * np.exp(np.log(precision).mean())


def _grams(tokens: Sequence[Any], n: int) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
