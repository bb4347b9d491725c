"""Transforms of text in a row: tokenizers, normal forms, word ids, and the length of sequences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_callable, check_int, check_type
from ...base.types import Array, DTypeLike
from ...tensors.dtype import int32, numpy_dtype
from ..base import between
from ..transforms import Transform
from ._characters import case_folded, pattern_of, script_of
from .utils import (
    JiebaMode,
    NormalizeForm,
    SentencePieceVocab,
    SPieceTokenizerOutType,
    Vectors,
    Vocab,
    library,
    sentencepiece,
    texts_of,
)

__all__ = [
    "AddToken",
    "BasicTokenizer",
    "BertTokenizer",
    "CaseFold",
    "FilterWikipediaXML",
    "JiebaTokenizer",
    "Lookup",
    "Ngram",
    "NormalizeUTF8",
    "PythonTokenizer",
    "RegexReplace",
    "RegexTokenizer",
    "SentencePieceTokenizer",
    "SlidingWindow",
    "ToNumber",
    "ToVectors",
    "Truncate",
    "TruncateSequencePair",
    "UnicodeCharTokenizer",
    "UnicodeScriptTokenizer",
    "WhitespaceTokenizer",
    "WordpieceTokenizer",
]

Piece = tuple[str, int, int]
"""A part of a text with its start and end there, in characters."""


def _text(caller: str, value: Array) -> str:
    if value.ndim or value.dtype.kind != "U":
        raise RuntimeError(f"For '{caller}', the value must be one text, but got {value.dtype} of shape {value.shape}")
    return str(value)


def _texts(caller: str, value: Array, ranks: tuple[int, ...] | None = None) -> Array:
    if value.dtype.kind != "U" or (ranks is not None and value.ndim not in ranks):
        of = "" if ranks is None else f" with {' or '.join(map(str, ranks))} axes"
        raise RuntimeError(f"For '{caller}', the value must be text{of}, but got {value.dtype} of shape {value.shape}")
    return value


class _Each(Transform):
    """A transform of each text of an array."""

    def changed(self, value: Array) -> Array:
        texts = _texts(type(self).__name__, value)
        return np.array([self.text(str(text)) for text in texts.reshape(-1)], np.str_).reshape(texts.shape)

    def text(self, text: str) -> str:
        """Return the transformed text."""
        raise NotImplementedError


class _Tokenizer(Transform):
    """Splits a text into pieces; with ``with_offsets`` also their starts and ends, in bytes of UTF-8."""

    def __init__(self, with_offsets: bool) -> None:
        self.with_offsets = check_bool(with_offsets, type(self).__name__, "with_offsets", show=repr)

    def changed(self, value: Array) -> Any:
        text, pieces = self.pieces(_text(type(self).__name__, value))
        return _result(*_in_bytes(text, pieces), self.with_offsets)

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        """Return the text that offsets refer to, and its pieces."""
        raise NotImplementedError


def _in_bytes(text: str, pieces: list[Piece]) -> tuple[list[str], list[int], list[int]]:
    starts = [len(text[:low].encode()) for _, low, _ in pieces]
    ends = [len(text[:high].encode()) for _, _, high in pieces]
    return [piece for piece, _, _ in pieces], starts, ends


def _result(texts: list[str], starts: list[int], ends: list[int], with_offsets: bool) -> Any:
    if not texts:  # the pieces of a text without words are one empty text
        texts, starts, ends = [""], [0], [0]
    array = np.array(texts, np.str_)
    return (array, np.array(starts, np.uint32), np.array(ends, np.uint32)) if with_offsets else array


class WhitespaceTokenizer(_Tokenizer):
    """Splits a text at white space.

    Args:
        with_offsets: also return the start and end of each word, in bytes of UTF-8.

    Raises:
        TypeError: not a bool.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        super().__init__(with_offsets)

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        return text, [(match[0], *match.span()) for match in re.finditer(r"\S+", text)]


class UnicodeCharTokenizer(_Tokenizer):
    """Splits a text into characters.

    Args:
        with_offsets: also return the start and end of each character, in bytes of UTF-8.

    Raises:
        TypeError: not a bool.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(self, with_offsets: bool = False) -> None:
        super().__init__(with_offsets)

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        return text, [(character, at, at + 1) for at, character in enumerate(text)]


class UnicodeScriptTokenizer(_Tokenizer):
    """Splits a text at changes of script and at white space. Signs and digits form a script of their own.

    Args:
        keep_whitespace: whether white space is returned too.
        with_offsets: also return the start and end of each piece, in bytes of UTF-8.

    Raises:
        TypeError: not a bool.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(self, keep_whitespace: bool = False, with_offsets: bool = False) -> None:
        super().__init__(with_offsets)
        self.keep_whitespace = check_bool(keep_whitespace, "UnicodeScriptTokenizer", "keep_whitespace", show=repr)

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        kinds = ["" if character.isspace() else script_of(character) for character in text]
        changes = [at for at in range(1, len(kinds)) if kinds[at] != kinds[at - 1]]
        bounds = zip([0, *changes], [*changes, len(text)], strict=True)
        parts = [(text[low:high], low, high) for low, high in bounds if low < high]
        return text, [piece for piece in parts if self.keep_whitespace or not piece[0].isspace()]


class CaseFold(_Each):
    """Text in lower case, with compatible characters replaced (Unicode's NFKC_Casefold).

    Raises:
        RuntimeError: when called, an input other than text.
    """

    def text(self, text: str) -> str:
        return case_folded(text)


class NormalizeUTF8(_Each):
    """Text in a normal form of Unicode.

    Args:
        normalize_form: the form; ``NormalizeForm.NONE`` leaves text as it is.

    Raises:
        TypeError: no ``NormalizeForm``.
        RuntimeError: when called, an input other than text.
    """

    def __init__(self, normalize_form: NormalizeForm = NormalizeForm.NFKC) -> None:
        self.form = _form("NormalizeUTF8", "normalize_form", normalize_form)

    def text(self, text: str) -> str:
        return _normal(self.form, text)


def _form(caller: str, argument: str, form: Any) -> NormalizeForm:
    return check_type(form, NormalizeForm, caller, argument, "a NormalizeForm", show=repr)


def _normal(form: NormalizeForm, text: str) -> str:
    name: Any = form.name
    return text if form is NormalizeForm.NONE else unicodedata.normalize(name, text)


_NUMERALS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class FilterWikipediaXML(_Each):
    """The words of a line of a Wikipedia dump, in lower case: only letters a to z, with digits spelled out.

    Everything from the first ``<`` to the last ``>`` is dropped, and all of a line with ``#redirect``.

    Raises:
        RuntimeError: when called, an input other than text.
    """

    def text(self, text: str) -> str:
        if "#redirect" in text.lower():
            return ""
        bare = re.sub("&[^;]*;", " ", re.sub("<.*>", "", text)).lower()
        text_in_letters = re.sub("[0-9]", lambda digit: f" {_NUMERALS[int(digit[0])]} ", bare)
        return " ".join(re.findall("[a-z]+", text_in_letters))


class RegexReplace(_Each):
    """Replaces matches of a pattern in text.

    Args:
        pattern: a regular expression; ``\\p{..}`` matches the characters of a general category.
        replace: the replacement; ``$1`` is the first group.
        replace_all: whether all matches are replaced, or the first.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an invalid regular expression, an unknown group, or an input other than text.
    """

    def __init__(self, pattern: str, replace: str, replace_all: bool = True) -> None:
        check_type(pattern, str, "RegexReplace", "pattern", show=repr)
        check_type(replace, str, "RegexReplace", "replace", show=repr)
        check_bool(replace_all, "RegexReplace", "replace_all", show=repr)
        self.pattern, self.replace, self.count = pattern, replace, 0 if replace_all else 1

    def changed(self, value: Array) -> Array:
        self._pattern = pattern_of("RegexReplace", "pattern", self.pattern)
        return super().changed(value)

    def text(self, text: str) -> str:
        try:
            return self._pattern.sub(self._substitute, text, count=self.count)
        except IndexError as error:
            raise RuntimeError(
                f"For 'RegexReplace', 'replace' asks for a group that 'pattern' has not: {self.replace!r}"
            ) from error

    def _substitute(self, match: re.Match[str]) -> str:
        return re.sub(
            r"\\(.)|\$(\d)", lambda part: part[1] if part[1] is not None else match[int(part[2])] or "", self.replace
        )


class RegexTokenizer(_Tokenizer):
    """Splits a text at matches of a pattern.

    Args:
        delim_pattern: a regular expression; ``\\p{..}`` matches the characters of a general category.
        keep_delim_pattern: full matches of this are pieces too; by default no delimiters are.
        with_offsets: also return the start and end of each piece, in bytes of UTF-8.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an invalid regular expression, or an input other than one text.
    """

    def __init__(self, delim_pattern: str, keep_delim_pattern: str = "", with_offsets: bool = False) -> None:
        check_type(delim_pattern, str, "RegexTokenizer", "delim_pattern", show=repr)
        check_type(keep_delim_pattern, str, "RegexTokenizer", "keep_delim_pattern", show=repr)
        super().__init__(with_offsets)
        self.delim_pattern, self.keep_delim_pattern = delim_pattern, keep_delim_pattern

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        return text, _split(
            text,
            pattern_of("RegexTokenizer", "delim_pattern", self.delim_pattern),
            pattern_of("RegexTokenizer", "keep_delim_pattern", self.keep_delim_pattern),
        )


def _split(text: str, delimiter: re.Pattern[str], keep: re.Pattern[str]) -> list[Piece]:
    pieces: list[Piece] = []
    before = 0
    for match in delimiter.finditer(text):
        low, high = match.span()
        if low > before:
            pieces.append((text[before:low], before, low))
        if high > low and keep.pattern and keep.fullmatch(match[0]):
            pieces.append((match[0], low, high))
        before = high
    return [*pieces, (text[before:], before, len(text))] if before < len(text) else pieces


_CHINESE = "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf\U0002f800-\U0002fa1f"
_SIGNS = rf"[!-/:-@\[-`{{-~]|\p{{P}}|[{_CHINESE}]"
_MARKED = r"\[(?:CLS|SEP|UNK|PAD|MASK|unused\d+)\]"


class BasicTokenizer(_Tokenizer):
    """Splits a text at white space, signs and Chinese characters, as the first step of BERT does.

    Args:
        lower_case: convert to lower case without accents.
        keep_whitespace: whether white space is returned too.
        normalization_form: the normal form of text whose case is unchanged.
        preserve_unused_token: whether [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] ... stay one piece.
        with_offsets: also return the start and end of each piece in the split text, in bytes of UTF-8.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(
        self,
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        caller = type(self).__name__
        super().__init__(with_offsets)
        self.lower_case = check_bool(lower_case, caller, "lower_case", show=repr)
        check_bool(keep_whitespace, caller, "keep_whitespace", show=repr)
        self.form = _form(caller, "normalization_form", normalization_form)
        self.preserve = check_bool(preserve_unused_token, caller, "preserve_unused_token", show=repr)
        marked = rf"{_MARKED}|" if preserve_unused_token else ""
        self.keep_whitespace = keep_whitespace
        self._patterns = f"{marked}\\s+|{_SIGNS}", f"{marked}{_SIGNS}" + (r"|\s+" if keep_whitespace else "")

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        normalized = self._lower(text) if self.lower_case else _normal(self.form, text)
        normalized = "".join(
            " " if unicodedata.category(pattern) in ("Cc", "Cf") else pattern for pattern in normalized
        )
        delimiter, keep = (pattern_of("BasicTokenizer", "lower_case", pattern) for pattern in self._patterns)
        return normalized, _split(normalized, delimiter, keep)

    def _lower(self, text: str) -> str:
        parts = re.split(f"({_MARKED})", text) if self.preserve else [text]
        return "".join(part if at % 2 else _without_accents(case_folded(part)) for at, part in enumerate(parts))


def _without_accents(text: str) -> str:
    return "".join(
        character for character in unicodedata.normalize("NFD", text) if unicodedata.category(character) != "Mn"
    )


class WordpieceTokenizer(Transform):
    """Splits words into the longest parts that a vocabulary has, from left to right.

    Args:
        vocab: the vocabulary.
        suffix_indicator: the prefix of parts within a word there.
        max_bytes_per_token: a longer word is unknown.
        unknown_token: the replacement of a word that cannot be composed; "": the word itself.
        with_offsets: also return the start and end of each part in its word, in bytes of UTF-8.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a negative number.
        RuntimeError: when called, an input other than text, or text with more than one axis.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        with_offsets: bool = False,
    ) -> None:
        caller = type(self).__name__
        check_type(vocab, Vocab, caller, "vocab", show=repr)
        check_type(suffix_indicator, str, caller, "suffix_indicator", show=repr)
        between(caller, "max_bytes_per_token", max_bytes_per_token, 0)
        check_type(unknown_token, str, caller, "unknown_token", show=repr)
        self.with_offsets = check_bool(with_offsets, caller, "with_offsets", show=repr)
        self.ids, self.suffix, self.most, self.unknown = (
            vocab.vocab(),
            suffix_indicator,
            max_bytes_per_token,
            unknown_token,
        )

    def changed(self, value: Array) -> Any:
        tokens = texts_of(_texts(type(self).__name__, value, (0, 1)))
        return self.joined([(token, 0) for token in tokens])

    def joined(self, tokens: list[tuple[str, int]]) -> Any:
        """Return the parts of tokens, each with the offset at which it begins."""
        parts, starts, ends = [], [], []
        for token, begin in tokens:
            for part, low, high in self.parts(token):
                parts.append(part)
                starts.append(begin + len(token[:low].encode()))
                ends.append(begin + len(token[:high].encode()))
        return _result(parts, starts, ends, self.with_offsets)

    def parts(self, word: str) -> list[Piece]:
        """Return the parts of one word."""
        unknown = [(self.unknown or word, 0, len(word))]
        if len(word.encode()) > self.most:
            return unknown
        parts: list[Piece] = []
        low = 0
        while low < len(word):
            for high in range(len(word), low, -1):
                part = (self.suffix if low else "") + word[low:high]
                if part in self.ids:
                    break
            else:
                return unknown
            parts.append((part, low, high))
            low = high
        return parts


class BertTokenizer(Transform):
    """Splits a text into BERT's parts of words: ``BasicTokenizer``, then ``WordpieceTokenizer``.

    Args:
        vocab: the vocabulary.
        suffix_indicator: the prefix of parts within a word there.
        max_bytes_per_token: a longer word is unknown.
        unknown_token: the replacement of a word that cannot be composed; "": the word itself.
        lower_case: convert to lower case without accents.
        keep_whitespace: whether white space is a word too.
        normalization_form: the normal form of text whose case is unchanged.
        preserve_unused_token: whether [CLS], [SEP], [UNK], [PAD], [MASK] and [unused1] ... stay one word.
        with_offsets: also return the start and end of each part in the split text, in bytes of UTF-8.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a negative number.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(
        self,
        vocab: Vocab,
        suffix_indicator: str = "##",
        max_bytes_per_token: int = 100,
        unknown_token: str = "[UNK]",
        lower_case: bool = False,
        keep_whitespace: bool = False,
        normalization_form: NormalizeForm = NormalizeForm.NONE,
        preserve_unused_token: bool = True,
        with_offsets: bool = False,
    ) -> None:
        self.basic = BasicTokenizer(
            lower_case, keep_whitespace, normalization_form, preserve_unused_token, with_offsets
        )
        self.wordpiece = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)

    def changed(self, value: Array) -> Any:
        tokens, starts, _ = _in_bytes(*self.basic.pieces(_text("BertTokenizer", value)))
        return self.wordpiece.joined(list(zip(tokens, starts, strict=True)))


class PythonTokenizer:
    """Applies a user's function to each text of an array.

    Args:
        tokenizer: a function of a str that returns a list of str.

    Raises:
        TypeError: not a function; when called, not an array of text.
        RuntimeError: when called, the function raised.
    """

    def __init__(self, tokenizer: Callable[[str], Sequence[str]]) -> None:
        check_callable(tokenizer, "PythonTokenizer", "tokenizer", show=repr)
        self.tokenizer = tokenizer

    def __call__(self, in_array: Array) -> Array:
        if isinstance(in_array, np.ndarray) and in_array.dtype.kind == "S":
            in_array = np.char.decode(in_array)
        if not isinstance(in_array, np.ndarray | np.str_) or in_array.dtype.kind != "U":
            raise TypeError(f"For 'PythonTokenizer', the value must be a NumPy array of str, but got {in_array!r}")
        try:
            tokens = [list(self.tokenizer(str(text))) for text in in_array.reshape(-1)]
            return np.array(tokens, np.str_).reshape(*in_array.shape, -1)
        except Exception as error:  # the user's code may raise anything
            raise RuntimeError(f"For 'PythonTokenizer', 'tokenizer' raised {type(error).__name__}: {error}") from error


class JiebaTokenizer(_Tokenizer):
    """Splits Chinese text into words with the package ``jieba``.

    Args:
        hmm_path: the file of a model; it must exist but is not read, since the package has its own.
        mp_path: the file of the dictionary: a word, its frequency and its kind in each line.
        mode: the method of segmentation.
        with_offsets: also return the start and end of each word, in bytes of UTF-8.

    Raises:
        ImportError: the package ``jieba`` is not installed.
        TypeError: an argument of the wrong type.
        ValueError: the file does not exist.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(
        self, hmm_path: str, mp_path: str, mode: JiebaMode = JiebaMode.MIX, with_offsets: bool = False
    ) -> None:
        super().__init__(with_offsets)
        self.mode = check_type(mode, JiebaMode, "JiebaTokenizer", "mode", "a JiebaMode", show=repr)
        for name, path in (("hmm_path", hmm_path), ("mp_path", mp_path)):
            if not Path(check_type(path, str, "JiebaTokenizer", name, show=repr)).is_file():
                raise ValueError(f"For 'JiebaTokenizer', '{name}' must be a file, but there is none at {path}")
        self._jieba = library("jieba", "JiebaTokenizer")
        self._tokenizer = self._jieba.Tokenizer(mp_path)

    def add_word(self, word: str, freq: int | None = None) -> None:
        """Add a word to the dictionary.

        Args:
            word: the word.
            freq: its frequency; by default high enough for the word to be recognized.

        Raises:
            TypeError: an argument of the wrong type.
            ValueError: an empty word, or a negative number.
        """
        if not check_type(word, str, "add_word", "word", show=repr):
            raise ValueError("For 'add_word', 'word' must not be empty")
        if freq is not None:
            between("add_word", "freq", freq, 0)
        self._tokenizer.add_word(word, freq)

    def add_dict(self, user_dict: str | dict[str, int]) -> None:
        """Add words to the dictionary.

        Args:
            user_dict: the frequency of each; or a file with a word and a number in each line.

        Raises:
            TypeError: something else.
        """
        check_type(user_dict, str | dict, "add_dict", "user_dict", "a str or a dict", show=repr)
        if isinstance(user_dict, str):
            self._tokenizer.load_userdict(user_dict)
        else:
            for word, freq in user_dict.items():
                self.add_word(word, freq)

    def pieces(self, text: str) -> tuple[str, list[Piece]]:
        if self.mode is JiebaMode.HMM:
            parts = list(self._jieba.finalseg.cut(text))
        else:
            parts = list(self._tokenizer.cut(text, HMM=self.mode is JiebaMode.MIX))
        ends = np.cumsum([len(part) for part in parts]).tolist()
        return text, [(part, end - len(part), end) for part, end in zip(parts, ends, strict=True)]


class SentencePieceTokenizer(Transform):
    """Splits a text into the pieces of a model of the package ``sentencepiece``.

    Args:
        mode: the file of a model, or a ``SentencePieceVocab``.
        out_type: whether texts or ids are returned.

    Raises:
        ImportError: the package ``sentencepiece`` is not installed.
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an input other than one text.
    """

    def __init__(self, mode: str | SentencePieceVocab, out_type: SPieceTokenizerOutType) -> None:
        caller = "SentencePieceTokenizer"
        check_type(mode, str | SentencePieceVocab, caller, "mode", "a str or a SentencePieceVocab", show=repr)
        check_type(out_type, SPieceTokenizerOutType, caller, "out_type", "a SPieceTokenizerOutType", show=repr)
        source = {"model_file": mode} if isinstance(mode, str) else {"model_proto": mode.model}
        self.processor = sentencepiece(caller).SentencePieceProcessor(**source)
        self.out_type = out_type

    def changed(self, value: Array) -> Array:
        text = _text("SentencePieceTokenizer", value)
        if self.out_type is SPieceTokenizerOutType.INT:
            return np.array(self.processor.encode(text, out_type=int), np.int32)
        return np.array(self.processor.encode(text, out_type=str), np.str_)


class Lookup(Transform):
    """Maps words to their ids.

    Args:
        vocab: the vocabulary.
        unknown_token: the word whose id replaces an unknown word's; by default that is an error.
        data_type: the element type of the result.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an unknown word, or an input other than text; or ``data_type`` is not a number.
    """

    def __init__(self, vocab: Vocab, unknown_token: str | None = None, data_type: DTypeLike = int32) -> None:
        if check_type(vocab, Vocab, "Lookup", "vocab", show=repr)._ids is None:
            raise TypeError("For 'Lookup', 'vocab' must be made by from_list, from_dict, from_file or from_dataset")
        check_type(unknown_token, str | None, "Lookup", "unknown_token", "a str or None", show=repr)
        self.ids, self.unknown_token, self.dtype = vocab.vocab(), unknown_token, np.dtype(numpy_dtype(data_type))

    def changed(self, value: Array) -> Array:
        _texts("Lookup", value)
        default = None if self.unknown_token is None else self.ids.get(self.unknown_token)
        if self.unknown_token is not None and default is None:
            raise RuntimeError(
                f"For 'Lookup', 'unknown_token' must be in the vocabulary, but {self.unknown_token!r} is not"
            )
        ids = [self.ids.get(word, default) for word in texts_of(value)]
        if None in ids:
            raise RuntimeError(
                f"For 'Lookup', {texts_of(value)[ids.index(None)]!r} is not in the vocabulary, and there is no "
                "'unknown_token'"
            )
        return np.array(ids, self.dtype).reshape(value.shape)


class Ngram(Transform):
    """Joins neighboring words.

    Args:
        n: the number of words, an int or a list of them.
        left_pad: a word and its number of repetitions before the others, at most n - 1.
        right_pad: the same after them.
        separator: the text between words.

    Raises:
        TypeError: ``separator`` is not a str.
        ValueError: not ints above 0, or not a pair of a str and an int from 0 on.
        RuntimeError: when called, an input other than text with one axis.
    """

    def __init__(
        self,
        n: int | list[int],
        left_pad: tuple[str, int] = ("", 0),
        right_pad: tuple[str, int] = ("", 0),
        separator: str = " ",
    ) -> None:
        self.lengths = n if isinstance(n, list) else [n]
        if not self.lengths or any(
            not isinstance(length, int) or isinstance(length, bool) or length < 1 for length in self.lengths
        ):
            raise ValueError(f"For 'Ngram', 'n' must be an int above 0 or a list of them, but got {n!r}")
        for name, pad in (("left_pad", left_pad), ("right_pad", right_pad)):
            pair = isinstance(pad, tuple) and len(pad) == 2 and isinstance(pad[0], str) and isinstance(pad[1], int)
            if not pair or pad[1] < 0:
                raise ValueError(f"For 'Ngram', '{name}' must be a str and an int from 0 on, but got {pad!r}")
        self.left, self.right = left_pad, right_pad
        self.separator = check_type(separator, str, "Ngram", "separator", show=repr)

    def changed(self, value: Array) -> Array:
        tokens = texts_of(_texts("Ngram", value, (1,)))
        joined: list[str] = []
        for n in self.lengths:
            before, after = ([word] * min(times, n - 1) for word, times in (self.left, self.right))
            padded = [*before, *tokens, *after]
            # Too few words result in an empty text.
            joined += [self.separator.join(padded[at : at + n]) for at in range(len(padded) - n + 1)] or [""]
        return np.array(joined, np.str_)


class SlidingWindow(Transform):
    """Returns each window of neighboring elements as a row.

    Args:
        width: the length of a window.
        axis: 0 or -1: the one axis.

    Raises:
        TypeError: not an int.
        ValueError: ``width`` is below 1.
        RuntimeError: when called, a value of the wrong rank.
    """

    def __init__(self, width: int, axis: int = 0) -> None:
        self.width = between("SlidingWindow", "width", width, 1)
        self.axis = check_int(axis, "SlidingWindow", "axis", show=repr)

    def changed(self, value: Array) -> Array:
        if value.ndim != 1 or self.axis not in (0, -1):
            raise RuntimeError(
                f"For 'SlidingWindow', the value must have one axis, and 'axis' be 0, but got shape {value.shape} and "
                f"axis {self.axis}"
            )
        if value.size < self.width:
            return value[:0]
        return np.ascontiguousarray(np.lib.stride_tricks.sliding_window_view(value, self.width))


class ToNumber(Transform):
    """Converts texts to numbers.

    Args:
        data_type: the element type of the result.

    Raises:
        TypeError: not a dtype of numbers.
        RuntimeError: when called, a text that is not a number or does not fit.
    """

    def __init__(self, data_type: DTypeLike) -> None:
        self.dtype = np.dtype(numpy_dtype(data_type))
        if self.dtype.kind not in "iuf":
            raise TypeError(f"For 'ToNumber', 'data_type' must be a dtype of numbers, but got {data_type}")

    def changed(self, value: Array) -> Array:
        numbers = [self._number(text) for text in texts_of(_texts("ToNumber", value))]
        return np.array(numbers, self.dtype).reshape(value.shape)

    def _number(self, text: str) -> int | float:
        # Characters after a number are ignored, as in C's functions.
        pattern = r"\s*[+-]?\d+" if self.dtype.kind in "iu" else r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
        match = re.match(pattern, text, re.ASCII)
        if match is None:
            raise RuntimeError(f"For 'ToNumber', the text must be a number, but got {text!r}")
        number: int | float = int(match[0]) if self.dtype.kind in "iu" else float(match[0])
        limits = np.iinfo(self.dtype) if self.dtype.kind in "iu" else np.finfo(self.dtype)
        if not int(limits.min) <= number <= int(limits.max):
            raise RuntimeError(f"For 'ToNumber', {text!r} must be a number that {self.dtype} has")
        return number


class ToVectors(Transform):
    """Maps words to their vectors.

    Args:
        vectors: ``Vectors``, ``GloVe``, ``FastText`` or ``CharNGram``.
        unk_init: the vector of an unknown word; by default zeros.
        lower_case_backup: also look up a word in lower case.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an input other than text, or ``unk_init`` of the wrong length.
    """

    def __init__(
        self, vectors: Vectors, unk_init: Sequence[float] | None = None, lower_case_backup: bool = False
    ) -> None:
        self.vectors = check_type(vectors, Vectors, "ToVectors", "vectors", "vectors from a file", show=repr)
        check_type(unk_init, list | tuple | None, "ToVectors", "unk_init", "a list of numbers or None", show=repr)
        self.unknown = np.zeros(vectors.dim, np.float32) if unk_init is None else np.asarray(unk_init, np.float32)
        self.lower = check_bool(lower_case_backup, "ToVectors", "lower_case_backup", show=repr)

    def changed(self, value: Array) -> Array:
        _texts("ToVectors", value)
        if self.unknown.shape != (self.vectors.dim,):
            raise RuntimeError(
                f"For 'ToVectors', 'unk_init' must have {self.vectors.dim} numbers, but has {self.unknown.size}"
            )
        vectors = [self.vectors.lookup(word, self.unknown, self.lower) for word in texts_of(value)]
        return np.array(vectors, np.float32).reshape(*value.shape, self.vectors.dim)


class Truncate(Transform):
    """Keeps the first elements along the last axis.

    Args:
        max_seq_len: the maximum number of elements.

    Raises:
        TypeError: not an int.
        ValueError: an int below 1.
        RuntimeError: when called, a value with no axis or more than two.
    """

    def __init__(self, max_seq_len: int) -> None:
        self.length = between("Truncate", "max_seq_len", max_seq_len, 1)

    def changed(self, value: Array) -> Array:
        if value.ndim not in (1, 2):
            raise RuntimeError(f"For 'Truncate', the value must have one or two axes, but got shape {value.shape}")
        return value[..., : self.length]


class TruncateSequencePair:
    """Truncates two sequences to a total length, always at the end of the longer one.

    Args:
        max_length: the maximum number of elements of both.

    Raises:
        TypeError: not an int.
        ValueError: a negative int.
        RuntimeError: when called, an input other than two values with one axis.
    """

    def __init__(self, max_length: int) -> None:
        self.length = between("TruncateSequencePair", "max_length", max_length, 0)

    def __call__(self, *values: Any) -> Any:
        pair = [np.asarray(value) for value in values]
        if len(pair) != 2 or any(value.ndim != 1 for value in pair):
            raise RuntimeError(
                f"For 'TruncateSequencePair', there must be two values with one axis, but got {[v.shape for v in pair]}"
            )
        first, second = (value.size for value in pair)
        while first + second > self.length:
            if first > second:
                first -= 1
            else:
                second -= 1
        return pair[0][:first], pair[1][:second]


class AddToken(Transform):
    """Adds a word before or after others.

    Args:
        token: the word.
        begin: whether it is added before them.

    Raises:
        TypeError: an argument of the wrong type.
        RuntimeError: when called, an input other than text, or text with no axis or more than two.
    """

    def __init__(self, token: str, begin: bool = True) -> None:
        self.token = check_type(token, str, "AddToken", "token", show=repr)
        self.begin = check_bool(begin, "AddToken", "begin", show=repr)

    def changed(self, value: Array) -> Array:
        _texts("AddToken", value, (1, 2))
        token = np.full((*value.shape[:-1], 1), self.token)
        return np.concatenate([token, value] if self.begin else [value, token], axis=-1)
