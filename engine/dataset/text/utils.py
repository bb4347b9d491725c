"""Vocabularies, word vectors, and text encodings."""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_positive_int, check_type
from ...base.types import Array
from ..base import Dataset, names_of

__all__ = [
    "CharNGram",
    "FastText",
    "GloVe",
    "JiebaMode",
    "NormalizeForm",
    "SPieceTokenizerLoadType",
    "SPieceTokenizerOutType",
    "SentencePieceModel",
    "SentencePieceVocab",
    "Vectors",
    "Vocab",
    "to_bytes",
    "to_str",
]


class NormalizeForm(enum.IntEnum):
    """Normal forms of Unicode."""

    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class JiebaMode(enum.IntEnum):
    """Segmentation methods of ``JiebaTokenizer``."""

    MIX = 0
    """By the dictionary, and by the model for words that it lacks."""
    MP = 1
    """By the dictionary."""
    HMM = 2
    """By the model."""


class SentencePieceModel(enum.IntEnum):
    """Kinds of models of ``SentencePieceVocab``."""

    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerOutType(enum.IntEnum):
    """Results of ``SentencePieceTokenizer``: texts or ids."""

    STRING = 0
    INT = 1


class SPieceTokenizerLoadType(enum.IntEnum):
    """Sources of ``SentencePieceTokenizer``: a file or a ``SentencePieceVocab``."""

    FILE = 0
    MODEL = 1


def _check_tokens(caller: str, argument: str, tokens: Any) -> list[str]:
    """Raise ValueError or TypeError unless ``tokens`` is a list of different words."""
    check_type(tokens, list, caller, argument, "a list of str", show=repr)
    for token in tokens:
        check_type(token, str, caller, argument, "a list of str", show=repr)
    duplicates = [token for token, count in Counter(tokens).items() if count > 1]
    if duplicates:
        raise ValueError(
            f"For '{caller}', '{argument}' must have each word once, but {duplicates[0]!r} is there several times"
        )
    return tokens


def _lines(caller: str, file_path: str) -> list[str]:
    check_type(file_path, str, caller, "file_path", show=repr)
    try:
        return Path(file_path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise RuntimeError(f"For '{caller}', {file_path} cannot be read as text: {error}") from error


class Vocab:
    """Words and their ids; created by ``from_list``, ``from_dict``, ``from_file`` or ``from_dataset``."""

    def __init__(self) -> None:
        self._ids: dict[str, int] | None = None
        self._tokens: dict[int, str] = {}

    @classmethod
    def _of(cls, ids: dict[str, int]) -> Self:
        vocab = cls()
        vocab._ids, vocab._tokens = ids, {number: word for word, number in ids.items()}
        return vocab

    @classmethod
    def _with_special_tokens(
        cls,
        caller: str,
        argument: str,
        tokens: list[str],
        special_tokens: list[str] | None,
        special_first: bool,
        error: type[Exception] = ValueError,
    ) -> Self:
        special = [] if special_tokens is None else _check_tokens(caller, "special_tokens", special_tokens)
        check_bool(special_first, caller, "special_first", show=repr)
        duplicates = sorted(set(special) & set(tokens))
        if duplicates:
            raise error(f"For '{caller}', 'special_tokens' must not be in {argument}, but both have {duplicates}")
        return cls._of(
            {token: n for n, token in enumerate([*special, *tokens] if special_first else [*tokens, *special])}
        )

    @classmethod
    def from_list(
        cls, word_list: list[str], special_tokens: list[str] | None = None, special_first: bool = True
    ) -> Self:
        """Return a vocabulary of words in the order of a list.

        Args:
            word_list: different words.
            special_tokens: additional tokens with a special meaning.
            special_first: whether they come first.

        Raises:
            TypeError: not a list of words, or not a bool.
            ValueError: a duplicate word.
        """
        tokens = _check_tokens("Vocab.from_list", "word_list", word_list)
        return cls._with_special_tokens("Vocab.from_list", "'word_list'", tokens, special_tokens, special_first)

    @classmethod
    def from_dict(cls, word_dict: dict[str, int]) -> Self:
        """Return a vocabulary of words with these ids.

        Args:
            word_dict: the id of each word, an int from 0 on.

        Raises:
            TypeError: not a dictionary of words and ints.
            ValueError: a negative number.
        """
        caller = "Vocab.from_dict"
        for word, number in check_type(word_dict, dict, caller, "word_dict", show=repr).items():
            check_type(word, str, caller, "word_dict", "a dict of str and int", show=repr)
            if check_int(number, caller, "word_dict", show=repr) < 0:
                raise ValueError(f"For '{caller}', 'word_dict' must have numbers from 0 on, but {word!r} has {number}")
        return cls._of(dict(word_dict))

    @classmethod
    def from_file(
        cls,
        file_path: str,
        delimiter: str = "",
        vocab_size: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Self:
        """Return a vocabulary of the words of a file, one per line.

        Args:
            file_path: the file, in UTF-8.
            delimiter: the end of the word in its line; by default the line is the word.
            vocab_size: the maximum number of words; by default all.
            special_tokens: additional tokens with a special meaning.
            special_first: whether they come first.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``vocab_size`` is below 1, or a duplicate word.
            RuntimeError: the file does not exist.
        """
        caller = "Vocab.from_file"
        check_type(delimiter, str, caller, "delimiter", show=repr)
        if vocab_size is not None:
            check_positive_int(vocab_size, caller, "vocab_size", show=repr)
        lines = _lines(caller, file_path)[:vocab_size]
        tokens = [line.partition(delimiter)[0] if delimiter else line for line in lines]
        duplicates = [token for token, count in Counter(tokens).items() if count > 1]
        if duplicates:
            raise RuntimeError(
                f"For '{caller}', {file_path} must have each word once, but {duplicates[0]!r} is there twice"
            )
        return cls._with_special_tokens(caller, file_path, tokens, special_tokens, special_first)

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        columns: str | list[str] | None = None,
        freq_range: tuple[int | None, int | None] | None = None,
        top_k: int | None = None,
        special_tokens: list[str] | None = None,
        special_first: bool = True,
    ) -> Self:
        """Return a vocabulary of a data set's most frequent words, ties in alphabetical order.

        Args:
            dataset: a data set with words.
            columns: the columns of words; by default all.
            freq_range: the minimum and maximum frequency of a word; None: unlimited.
            top_k: the maximum number of words; by default all.
            special_tokens: additional tokens with a special meaning.
            special_first: whether they come first.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: an invalid range, or ``top_k`` below 1.
            RuntimeError: an unknown column, a column without text, or a special token among the words.
        """
        caller = "Vocab.from_dataset"
        check_type(dataset, Dataset, caller, "dataset", "a data set", show=repr)
        low, high = cls._range(caller, freq_range)
        if top_k is not None:
            check_positive_int(top_k, caller, "top_k", show=repr)
        source = dataset if columns in (None, []) else dataset.project(names_of(caller, "columns", columns or []))
        counts: Counter[str] = Counter()
        for row in source.create_tuple_iterator(num_epochs=1, output_numpy=True):
            for value in row:
                if not isinstance(value, np.ndarray) or value.dtype.kind != "U":
                    raise RuntimeError(f"For '{caller}', the columns must hold text, but got {value!r}")
                counts.update(value.reshape(-1).tolist())
        ranked = [(-count, word) for word, count in counts.items() if low <= count <= high]
        # Ties are sorted by the bytes of the words.
        tokens = [token for _, token in sorted(ranked, key=lambda item: (item[0], item[1].encode()))][:top_k]
        return cls._with_special_tokens(caller, "the data set", tokens, special_tokens, special_first, RuntimeError)

    @staticmethod
    def _range(caller: str, value: Any) -> tuple[float, float]:
        if value is None:
            return 0, np.inf
        check_type(value, tuple, caller, "freq_range", "a tuple of two ints or None", show=repr)
        if len(value) != 2:
            raise ValueError(f"For '{caller}', 'freq_range' must be a tuple of two ints or None, but got {value!r}")
        for bound in value:
            if bound is not None:
                check_int(bound, caller, "freq_range", show=repr)
        low, high = value[0] or 0, np.inf if value[1] is None else value[1]
        if not 0 <= low <= high:
            raise ValueError(f"For '{caller}', 'freq_range' must rise from 0 on, but got {value!r}")
        return low, high

    def vocab(self) -> dict[str, int]:
        """Return the id of each word.

        Raises:
            RuntimeError: it was not created by one of the class's methods.
        """
        if self._ids is None:
            raise RuntimeError("the Vocab is empty: make it by from_list, from_dict, from_file or from_dataset")
        return dict(self._ids)

    def tokens_to_ids(self, tokens: str | list[str] | Array) -> int | list[int]:
        """Return the ids of words; -1 for an unknown word.

        Args:
            tokens: a word, or a list or array of them.

        Returns:
            an int for one word, else a list.

        Raises:
            TypeError: something else.
        """
        caller, ids = "tokens_to_ids", self.vocab()
        check_type(tokens, str | list | np.ndarray, caller, "tokens", "a str, or a list or array of them", show=repr)
        tokens = [tokens] if isinstance(tokens, str) else list(tokens)
        for token in tokens:
            check_type(token, str, caller, "tokens", "a str, or a list or array of them", show=repr)
        result = [ids.get(str(token), -1) for token in tokens]
        return result[0] if len(result) == 1 else result

    def ids_to_tokens(self, ids: int | list[int] | Array) -> str | list[str]:
        """Return the words of ids; an empty word for an unknown id.

        Args:
            ids: an id, or a list or array of them.

        Returns:
            a str for one id, else a list.

        Raises:
            TypeError: something else.
            ValueError: a negative number.
        """
        caller = "ids_to_tokens"
        self.vocab()
        check_type(ids, int | list | np.ndarray, caller, "ids", "an int, or a list or array of them", show=repr)
        numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids if isinstance(ids, list) else [ids]
        for number in numbers:
            if check_int(number, caller, "ids", show=repr) < 0:
                raise ValueError(f"For '{caller}', 'ids' must not be negative, but got {number}")
        tokens = [self._tokens.get(number, "") for number in numbers]
        return tokens[0] if len(tokens) == 1 else tokens


class Vectors:
    """The vectors of words, from a file with a word and its numbers in each line."""

    def __init__(self) -> None:
        self._vectors: dict[str, Array] = {}
        self.dim = 0

    @classmethod
    def from_file(cls, file_path: str, max_vectors: int | None = None) -> Self:
        """Read a file.

        Args:
            file_path: the file, in UTF-8; a first line of only two numbers is skipped.
            max_vectors: the maximum number of words; by default, and for 0, all.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: ``max_vectors`` is negative.
            RuntimeError: the file does not exist, or the vectors are not of one length above 1.
        """
        caller = f"{cls.__name__}.from_file"
        if max_vectors is not None and check_int(max_vectors, caller, "max_vectors", show=repr) < 0:
            raise ValueError(f"For '{caller}', 'max_vectors' must not be negative, but got {max_vectors}")
        lines = _lines(caller, file_path)
        cls._check_name(caller, Path(file_path))
        if lines and len(lines[0].split()) == 2 and all(field.isdecimal() for field in lines[0].split()):
            lines = lines[1:]
        vectors = cls()
        for line in lines[: max_vectors or None]:
            word, *numbers = line.rstrip().split(" ")
            try:
                vector = np.array([float(field) for field in numbers], np.float32)
            except ValueError as error:
                raise RuntimeError(f"For '{caller}', {file_path} has a line with no numbers: {line[:80]!r}") from error
            if vector.size < 2 or vectors.dim not in (0, vector.size):
                raise RuntimeError(
                    f"For '{caller}', vectors must have one length, at least 2, but {word!r} has {vector.size} "
                    f"{'numbers' if not vectors.dim else f'after {vectors.dim}'}"
                )
            vectors.dim = vector.size
            vectors._vectors.setdefault(word, vector)
        if not vectors.dim:
            raise RuntimeError(f"For '{caller}', {file_path} has no vectors")
        return vectors

    @classmethod
    def _check_name(cls, caller: str, path: Path) -> None:
        """Refuse a file with a different name."""

    def lookup(self, token: str, unknown: Array, lower_case_backup: bool) -> Array:
        """Return the vector of a word.

        Args:
            token: the word.
            unknown: the vector of an unknown word.
            lower_case_backup: also look up the word in lower case.
        """
        vector = self._vectors.get(token)
        if vector is None and lower_case_backup:
            vector = self._vectors.get(token.lower())
        return unknown if vector is None else vector


class GloVe(Vectors):
    """Word vectors of GloVe, from its files ``glove.6B.*.txt``."""

    @classmethod
    def _check_name(cls, caller: str, path: Path) -> None:
        if not (path.name.startswith("glove.6B.") and path.suffix == ".txt"):
            raise RuntimeError(f"For '{caller}', the file's name must be glove.6B.*.txt, but got {path}")


class FastText(Vectors):
    """Word vectors of FastText, from its files ``*.vec``."""

    @classmethod
    def _check_name(cls, caller: str, path: Path) -> None:
        if path.suffix != ".vec":
            raise RuntimeError(f"For '{caller}', the file's name must be *.vec, but got {path}")


class CharNGram(Vectors):
    """Vectors of two to four neighboring characters, ``2gram-ab``; that of a word is the mean of its parts."""

    def lookup(self, token: str, unknown: Array, lower_case_backup: bool) -> Array:
        """Return the vector of a word.

        Args:
            token: the word.
            unknown: the vector of a word without known parts.
            lower_case_backup: look up the word in lower case.
        """
        characters = ["#BEGIN#", *(token.lower() if lower_case_backup else token), "#END#"]
        grams = [
            f"{n}gram-{''.join(characters[at : at + n])}" for n in (2, 3, 4) for at in range(len(characters) - n + 1)
        ]
        vectors = [self._vectors[gram] for gram in grams if gram in self._vectors]
        return np.asarray(np.mean(vectors, axis=0, dtype=np.float32)) if vectors else unknown


def sentencepiece(caller: str) -> Any:
    """Return the library ``sentencepiece``.

    Raises:
        ImportError: it is not installed.
    """
    return library("sentencepiece", caller)


def library(name: str, caller: str) -> Any:
    """Return a library that only one transform needs.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"For '{caller}', the package '{name}' is needed: pip install {name}") from error


class SentencePieceVocab:
    """A trained model of the package ``sentencepiece``; created by ``from_dataset`` or ``from_file``."""

    def __init__(self) -> None:
        self.model = b""

    @classmethod
    def from_dataset(
        cls,
        dataset: Dataset,
        col_names: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> Self:
        """Learn a model from the texts of a data set.

        Args:
            dataset: the data set.
            col_names: its columns with texts; all for an empty list.
            vocab_size: the number of pieces of the model.
            character_coverage: the fraction of characters that it covers.
            model_type: its kind.
            params: additional arguments of ``SentencePieceTrainer.train``.

        Raises:
            ImportError: the package ``sentencepiece`` is not installed.
            TypeError: an argument of the wrong type.
        """
        source = dataset.project(col_names) if col_names else dataset
        rows = source.create_tuple_iterator(num_epochs=1, output_numpy=True)
        texts = (str(text) for row in rows for value in row for text in np.asarray(value).reshape(-1))
        return cls._train(
            "SentencePieceVocab.from_dataset",
            vocab_size,
            character_coverage,
            model_type,
            params,
            sentence_iterator=texts,
        )

    @classmethod
    def from_file(
        cls,
        file_path: list[str],
        vocab_size: int,
        character_coverage: float,
        model_type: SentencePieceModel,
        params: dict[str, Any],
    ) -> Self:
        """Learn a model from files of texts, one in a line.

        Args:
            file_path: the files.
            vocab_size: the number of pieces of the model.
            character_coverage: the fraction of characters that it covers.
            model_type: its kind.
            params: additional arguments of ``SentencePieceTrainer.train``.

        Raises:
            ImportError: the package ``sentencepiece`` is not installed.
            TypeError: an argument of the wrong type.
        """
        check_type(file_path, list, "SentencePieceVocab.from_file", "file_path", "a list of str", show=repr)
        return cls._train(
            "SentencePieceVocab.from_file",
            vocab_size,
            character_coverage,
            model_type,
            params,
            input=",".join(file_path),
        )

    @classmethod
    def _train(
        cls,
        caller: str,
        vocab_size: int,
        character_coverage: float,
        model_type: Any,
        params: dict[str, Any],
        **source: Any,
    ) -> Self:
        check_positive_int(vocab_size, caller, "vocab_size", show=repr)
        check_type(model_type, SentencePieceModel, caller, "model_type", "a SentencePieceModel", show=repr)
        check_type(params, dict, caller, "params", show=repr)
        import io

        buffer = io.BytesIO()
        sentencepiece(caller).SentencePieceTrainer.train(
            **source,
            model_writer=buffer,
            vocab_size=vocab_size,
            character_coverage=character_coverage,
            model_type=model_type.name.lower(),
            **params,
        )
        vocab = cls()
        vocab.model = buffer.getvalue()
        return vocab

    @classmethod
    def save_model(cls, vocab: SentencePieceVocab, path: str, filename: str) -> None:
        """Write a model into a file.

        Args:
            vocab: the model.
            path: the folder.
            filename: the file in it.

        Raises:
            TypeError: an argument of the wrong type.
            RuntimeError: the folder does not exist.
        """
        check_type(vocab, SentencePieceVocab, "save_model", "vocab", "a SentencePieceVocab", show=repr)
        if not Path(path).is_dir():
            raise RuntimeError(f"For 'save_model', 'path' must be a folder, but there is none at {path}")
        (Path(path) / filename).write_bytes(vocab.model)


def to_bytes(array: Array, encoding: str = "utf8") -> Array:
    """Encode text as bytes.

    Args:
        array: an array of str.
        encoding: the encoding of characters.

    Raises:
        ValueError: not an array.
    """
    if not isinstance(array, np.ndarray):
        raise ValueError(f"For 'to_bytes', 'array' must be a NumPy array, but got {type(array).__name__}")
    return np.asarray(np.char.encode(array, encoding))


def to_str(array: Array, encoding: str = "utf8") -> Array:
    """Decode bytes as text.

    Args:
        array: an array of bytes.
        encoding: the encoding of characters.

    Raises:
        TypeError: not an array.
    """
    check_type(array, np.ndarray, "to_str", "array", "a NumPy array")
    return np.asarray(np.char.decode(array, encoding))


def texts_of(array: Iterable[Any]) -> list[str]:
    """Return the elements of an array of text, in order."""
    return [str(text) for text in np.asarray(array).reshape(-1)]
