"""Text in rows: tokenizers, normal forms, numbers of words, vectors. Results were read off MindSpore 2.10."""
# ruff: noqa: RUF001

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.dataset as ds
from hookscope.engine.dataset import text, transforms

V = text.Vocab.from_list(
    ["book", "##let", "favor", "##ite", "fav", "##or", "a", "北", "##京", "[CLS]", "##book"], ["[UNK]"]
)


def plain(value: Any) -> Any:
    """Return text as lists, numbers with the name of their dtype."""
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    if not isinstance(value, np.ndarray | np.generic):
        return value
    return value.tolist() if value.dtype.kind in "SU" else (value.dtype.name, value.tolist())


RESULTS: list[tuple[Callable[[], Any], Any]] = [
    (
        lambda: text.WhitespaceTokenizer()("Welcome  to\tBeijing　北京\u00a0x\n"),
        ["Welcome", "to", "Beijing", "北京", "x"],
    ),
    (lambda: text.WhitespaceTokenizer()(""), [""]),
    (lambda: text.WhitespaceTokenizer()("   "), [""]),
    (
        lambda: text.WhitespaceTokenizer(True)("  Hi 北京 x"),
        (["Hi", "北京", "x"], ("uint32", [2, 5, 12]), ("uint32", [4, 11, 13])),
    ),
    (lambda: text.WhitespaceTokenizer(True)(""), ([""], ("uint32", [0]), ("uint32", [0]))),
    (lambda: text.UnicodeCharTokenizer()("a 北é"), ["a", " ", "北", "é"]),
    (lambda: text.UnicodeCharTokenizer()(""), [""]),
    (
        lambda: text.UnicodeCharTokenizer(True)("a 北é"),
        (["a", " ", "北", "é"], ("uint32", [0, 1, 2, 5]), ("uint32", [1, 2, 5, 7])),
    ),
    (lambda: text.UnicodeScriptTokenizer()("Welcome to Beijing北京欢迎您"), ["Welcome", "to", "Beijing", "北京欢迎您"]),
    (
        lambda: text.UnicodeScriptTokenizer(keep_whitespace=True)("Welcome to Beijing北京 欢迎您 12"),
        ["Welcome", " ", "to", " ", "Beijing", "北京", " ", "欢迎您", " ", "12"],
    ),
    (
        lambda: text.UnicodeScriptTokenizer(True, True)(" Hi北 京"),
        ([" ", "Hi", "北", " ", "京"], ("uint32", [0, 1, 3, 6, 7]), ("uint32", [1, 3, 6, 7, 10])),
    ),
    (
        lambda: text.UnicodeScriptTokenizer(False, True)("Welcome to Bei，北京!?12ab"),
        (
            ["Welcome", "to", "Bei", "，", "北京", "!?12", "ab"],
            ("uint32", [0, 8, 11, 14, 17, 23, 27]),
            ("uint32", [7, 10, 14, 17, 23, 27, 29]),
        ),
    ),
    (
        lambda: text.UnicodeScriptTokenizer()(
            "한국어 кот γάτα ハロー ひらがな עברית العربية ไทย हिन्दी e\u0301x ＡＢ ①½ \U0001f600"
        ),
        [
            "\ud55c\uad6d\uc5b4",
            "\u043a\u043e\u0442",
            "\u03b3\u03ac\u03c4\u03b1",
            "\u30cf\u30ed",
            "\u30fc",
            "\u3072\u3089\u304c\u306a",
            "\u05e2\u05d1\u05e8\u05d9\u05ea",
            "\u0627\u0644\u0639\u0631\u0628\u064a\u0629",
            "\u0e44\u0e17\u0e22",
            "\u0939\u093f\u0928\u094d\u0926\u0940",
            "e",
            "\u0301",
            "x",
            "\uff21\uff22",
            "\u2460\xbd",
            "\U0001f600",
        ],
    ),
    (lambda: text.UnicodeScriptTokenizer()(""), [""]),
    (lambda: text.UnicodeScriptTokenizer()("   "), [""]),
    (lambda: text.CaseFold()("Welcome To ßEİ ΑΣ ﬁ ǅ"), "welcome to ssei\u0307 \u03b1\u03c3 fi d\u017e"),
    (lambda: text.CaseFold()(""), ""),
    (lambda: text.CaseFold()(np.array(["AB", "Cd"])), ["ab", "cd"]),
    (
        lambda: text.FilterWikipediaXML()("Welcome to [http://www.x.org x] China &lt;b&gt; &amp;nbsp; AbC 12"),
        "welcome to http www x org x china b nbsp abc one two",
    ),
    (lambda: text.FilterWikipediaXML()("<page><title>Sun Tzu</title> #REDIRECT [[Accessibility]] {{fix}}</page>"), ""),
    (
        lambda: text.FilterWikipediaXML()(
            "AB's, 12-3 [[category:foo|bar]] [[en:x]] |thumb| [[image:a|b]] &quot; (a) 'tis"
        ),
        "ab s one two three category foo bar en x thumb image a b a tis",
    ),
    (lambda: text.NormalizeUTF8()("ﬁe\u0301①Å"), "fié1Å"),
    (lambda: text.NormalizeUTF8(text.NormalizeForm.NFC)("ﬁe\u0301①Å"), "ﬁé①Å"),
    (lambda: text.NormalizeUTF8(text.NormalizeForm.NFD)("ﬁe\u0301①Å"), "\ufb01e\u0301\u2460A\u030a"),
    (lambda: text.NormalizeUTF8(text.NormalizeForm.NFKD)("ﬁe\u0301①Å"), "fie\u03011A\u030a"),
    (lambda: text.NormalizeUTF8(text.NormalizeForm.NONE)("ﬁe\u0301①Å"), "\ufb01e\u0301\u2460\xc5"),
    (lambda: text.RegexReplace("a(p+)le", "<$1>")("apple aple"), "<pp> <p>"),
    (lambda: text.RegexReplace("a", "b", False)("aaa"), "baa"),
    (lambda: text.RegexReplace("\\p{Lu}", "_")("aBcÉ"), "a_c_"),
    (lambda: text.RegexReplace("\\s", "")("a b　c\u00a0d"), "abcd"),
    (lambda: text.RegexReplace("\\d", "0")("a1٣"), "a00"),
    (lambda: text.RegexReplace("\\w", "0")("é_-1"), "00-0"),
    (lambda: text.RegexReplace("a", "\\$")("a"), "$"),
    (lambda: text.RegexReplace("", "-")("ab"), "-a-b-"),
    (lambda: text.RegexTokenizer("\\s+")("Welcome to  Beijing"), ["Welcome", "to", "Beijing"]),
    (lambda: text.RegexTokenizer("\\s+", "\\s+")("Welcome to  Beijing"), ["Welcome", " ", "to", "  ", "Beijing"]),
    (
        lambda: text.RegexTokenizer("\\s+", "", True)("Wélcome to  B"),
        (["Wélcome", "to", "B"], ("uint32", [0, 9, 13]), ("uint32", [8, 11, 14])),
    ),
    (
        lambda: text.RegexTokenizer("\\s+", "\\s+", True)("Wé to  B "),
        (["Wé", " ", "to", "  ", "B", " "], ("uint32", [0, 3, 4, 6, 8, 9]), ("uint32", [3, 4, 6, 8, 9, 10])),
    ),
    (lambda: text.RegexTokenizer("[^a]", "b")("abcab"), ["a", "b", "a", "b"]),
    (lambda: text.RegexTokenizer("(北)", "(北)")("北京北"), ["北", "京", "北"]),
    (lambda: text.RegexTokenizer("x")(""), [""]),
    (lambda: text.RegexTokenizer("x")("xx"), [""]),
    (lambda: text.RegexTokenizer("\\p{P}", "\\p{P}")("a,b。c"), ["a", ",", "b", "。", "c"]),
    (
        lambda: text.BasicTokenizer()("Welcome to Beijing北京欢迎您"),
        ["Welcome", "to", "Beijing", "北", "京", "欢", "迎", "您"],
    ),
    (
        lambda: text.BasicTokenizer(True, preserve_unused_token=False)("a [UNK] [CLS]"),
        ["a", "[", "unk", "]", "[", "cls", "]"],
    ),
    (lambda: text.BasicTokenizer(False, True)("Wé, a\tb\n北 c"), ["Wé", ",", " ", "a", " ", "b", " ", "北", " ", "c"]),
    (lambda: text.BasicTokenizer(False, False, text.NormalizeForm.NFKC)("ﬁ é ①"), ["fi", "é", "1"]),
    (lambda: text.BasicTokenizer(True, False, text.NormalizeForm.NFKC)("ﬁ É ①"), ["fi", "e", "1"]),
    (lambda: text.BasicTokenizer(False, False, text.NormalizeForm.NONE)("É e\u0301"), ["\xc9", "e\u0301"]),
    (
        lambda: text.BasicTokenizer(True, with_offsets=True)("Wélcome, 北x"),
        (["welcome", ",", "北", "x"], ("uint32", [0, 7, 9, 12]), ("uint32", [7, 8, 12, 13])),
    ),
    (
        lambda: text.BasicTokenizer(False, with_offsets=True)("Wélcome, 北x"),
        (["Wélcome", ",", "北", "x"], ("uint32", [0, 8, 10, 13]), ("uint32", [8, 9, 13, 14])),
    ),
    (
        lambda: text.BasicTokenizer(False, keep_whitespace=True, with_offsets=True)("a b"),
        (["a", " ", "b"], ("uint32", [0, 1, 2]), ("uint32", [1, 2, 3])),
    ),
    (lambda: text.BasicTokenizer()(""), [""]),
    (
        lambda: text.BasicTokenizer()("\u4e00\u3400\uf900\u3042\u30a2\uac00\U00020000z"),
        ["一", "㐀", "豈", "あア가", "𠀀", "z"],
    ),
    (
        lambda: text.BasicTokenizer()("a^b`c~d|e<f=g>h+i$j_k@l#m%n&o*p(q)r:s;t\"u'v/w\\x{y}z[1]2？3"),
        [
            "a",
            "^",
            "b",
            "`",
            "c",
            "~",
            "d",
            "|",
            "e",
            "<",
            "f",
            "=",
            "g",
            ">",
            "h",
            "+",
            "i",
            "$",
            "j",
            "_",
            "k",
            "@",
            "l",
            "#",
            "m",
            "%",
            "n",
            "&",
            "o",
            "*",
            "p",
            "(",
            "q",
            ")",
            "r",
            ":",
            "s",
            ";",
            "t",
            '"',
            "u",
            "'",
            "v",
            "/",
            "w",
            "\\",
            "x",
            "{",
            "y",
            "}",
            "z",
            "[",
            "1",
            "]",
            "2",
            "？",
            "3",
        ],
    ),
    (
        lambda: text.WordpieceTokenizer(V)(np.array(["favorite", "booklet", "book", "xyz", "", "let"])),
        ["favor", "##ite", "book", "##let", "book", "[UNK]", "[UNK]"],
    ),
    (lambda: text.WordpieceTokenizer(V)("favoritebook"), ["favor", "##ite", "##book"]),
    (lambda: text.WordpieceTokenizer(V, unknown_token="")(np.array(["xyz", "bookx"])), ["xyz", "bookx"]),
    (lambda: text.WordpieceTokenizer(V, max_bytes_per_token=4)(np.array(["book", "booklet"])), ["book", "[UNK]"]),
    (lambda: text.WordpieceTokenizer(V, suffix_indicator="@@")(np.array(["booklet"])), ["[UNK]"]),
    (
        lambda: text.WordpieceTokenizer(V, with_offsets=True)(np.array(["booklet", "xyz", "book", "北京"])),
        (
            ["book", "##let", "[UNK]", "book", "北", "##京"],
            ("uint32", [0, 4, 0, 0, 0, 3]),
            ("uint32", [4, 7, 3, 4, 3, 6]),
        ),
    ),
    (lambda: text.WordpieceTokenizer(V)(np.array(["北京", "北"])), ["北", "##京", "北"]),
    (
        lambda: text.BertTokenizer(V)("favorite booklet, 北京 xyz [CLS]"),
        ["favor", "##ite", "book", "##let", "[UNK]", "北", "[UNK]", "[UNK]", "[CLS]"],
    ),
    (lambda: text.BertTokenizer(V, lower_case=True)("FAVORITE Booklet"), ["favor", "##ite", "book", "##let"]),
    (
        lambda: text.BertTokenizer(V, with_offsets=True)("a booklet 北京"),
        (["a", "book", "##let", "北", "[UNK]"], ("uint32", [0, 2, 6, 10, 13]), ("uint32", [1, 6, 9, 13, 16])),
    ),
    (lambda: text.BertTokenizer(V, keep_whitespace=True)("book book"), ["book", "[UNK]", "book"]),
    (
        lambda: text.BertTokenizer(V, max_bytes_per_token=4, unknown_token="", preserve_unused_token=False)(
            "booklet [CLS] x"
        ),
        ["booklet", "[", "CLS", "]", "x"],
    ),
    (lambda: text.Lookup(V)(np.array(["book", "##let"])), ("int32", [1, 2])),
    (lambda: text.Lookup(V)("book"), ("int32", 1)),
    (lambda: text.Lookup(V, "[UNK]")(np.array([["nope", "book"], ["##let", "a"]])), ("int32", [[0, 1], [2, 7]])),
    (lambda: text.Lookup(V, "[UNK]", ms.int64)(np.array(["nope"])), ("int64", [0])),
    (lambda: text.Lookup(V, "[UNK]", ms.float16)(np.array(["nope", "book"])), ("float16", [0.0, 1.0])),
    (lambda: text.Ngram(2)(np.array(["a", "b", "c"])), ["a b", "b c"]),
    (lambda: text.Ngram([1, 2])(np.array(["a", "b", "c"])), ["a", "b", "c", "a b", "b c"]),
    (lambda: text.Ngram(3, ("_", 2), ("|", 1), "-")(np.array(["a", "b", "c"])), ["_-_-a", "_-a-b", "a-b-c", "b-c-|"]),
    (lambda: text.Ngram(3)(np.array(["a"])), [""]),
    (lambda: text.Ngram([3, 2], separator="")(np.array(["a", "b"])), ["", "ab"]),
    (lambda: text.Ngram(2, ("a", 5), ("b", 5))(np.array(["x"])), ["a x", "x b"]),
    (lambda: text.SlidingWindow(2)(np.array([1, 2, 3, 4])), ("int64", [[1, 2], [2, 3], [3, 4]])),
    (lambda: text.SlidingWindow(5)(np.array([1, 2])), ("int64", [])),
    (lambda: text.ToNumber(ms.int8)(np.array(["1", "-2"])), ("int8", [1, -2])),
    (lambda: text.ToNumber(ms.float32)(np.array(["1.5", "1e3", " 2"])), ("float32", [1.5, 1000.0, 2.0])),
    (lambda: text.ToNumber(ms.float16)("2.5"), ("float16", 2.5)),
    (lambda: text.ToNumber(ms.float64)("0.1"), ("float64", 0.1)),
    (lambda: text.ToNumber(ms.int32)("1.7"), ("int32", 1)),
    (lambda: text.ToNumber(ms.int32)("1x"), ("int32", 1)),
    (lambda: text.ToNumber(ms.uint64)("18446744073709551615"), ("uint64", 18446744073709551615)),
    (lambda: text.Truncate(2)(np.array(["a", "b", "c"])), ["a", "b"]),
    (lambda: text.Truncate(5)(np.array([1, 2])), ("int64", [1, 2])),
    (lambda: text.Truncate(2)(np.array([[1, 2, 3], [4, 5, 6]])), ("int64", [[1, 2], [4, 5]])),
    (
        lambda: text.TruncateSequencePair(5)(np.array([1, 2, 3, 4]), np.array([5, 6, 7])),
        (("int64", [1, 2, 3]), ("int64", [5, 6])),
    ),
    (lambda: text.TruncateSequencePair(2)(np.array(["a", "b", "c"]), np.array(["d"])), (["a"], ["d"])),
    (
        lambda: text.TruncateSequencePair(3)(np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8])),
        (("int64", [1, 2]), ("int64", [5])),
    ),
    (lambda: text.TruncateSequencePair(4)(np.array([1, 2]), np.array([5])), (("int64", [1, 2]), ("int64", [5]))),
    (lambda: text.TruncateSequencePair(0)(np.array([1, 2]), np.array([5])), (("int64", []), ("int64", []))),
    (lambda: text.AddToken("TOKEN")(np.array(["a", "b"])), ["TOKEN", "a", "b"]),
    (lambda: text.AddToken("TOKEN", False)(np.array(["a", "b"])), ["a", "b", "TOKEN"]),
    (lambda: text.AddToken("T")(np.array([["a", "b"], ["c", "d"]])), [["T", "a", "b"], ["T", "c", "d"]]),
    (lambda: text.AddToken("T", False)(np.array([["a"]])), [["a", "T"]]),
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))(np.array("a-b")), ["a", "b"]),
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))(np.str_("a-b")), ["a", "b"]),  # as rows of an array are
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))(np.array(["a-b"])), [["a", "b"]]),
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))(np.array(["\u00e4-b".encode()])), [["\u00e4", "b"]]),
    (lambda: text.to_bytes(np.array(["1", "é"])), [b"1", b"\xc3\xa9"]),
    (lambda: text.to_str(np.array([b"1", b"ab"])), ["1", "ab"]),
    (lambda: text.to_bytes(np.array(["é"]), "latin1"), [b"\xe9"]),
    (lambda: V.tokens_to_ids("book"), 1),
    (lambda: V.tokens_to_ids(["book", "nope"]), [1, -1]),
    (lambda: V.tokens_to_ids(np.array(["book", "nope"])), [1, -1]),
    (lambda: V.tokens_to_ids([]), []),
    (lambda: V.ids_to_tokens(2), "##let"),
    (lambda: V.ids_to_tokens([2, 99]), ["##let", ""]),
    (lambda: V.ids_to_tokens(np.array([0, 1])), ["[UNK]", "book"]),
    (lambda: V.ids_to_tokens([]), []),
    (lambda: [x.name for x in text.NormalizeForm], ["NONE", "NFC", "NFKC", "NFD", "NFKD"]),
    (lambda: [int(x) for x in text.NormalizeForm], [0, 1, 2, 3, 4]),
    (lambda: [(x.name, int(x)) for x in text.JiebaMode], [("MIX", 0), ("MP", 1), ("HMM", 2)]),
    (
        lambda: [(x.name, int(x)) for x in text.SentencePieceModel],
        [("UNIGRAM", 0), ("BPE", 1), ("CHAR", 2), ("WORD", 3)],
    ),
    (lambda: [(x.name, int(x)) for x in text.SPieceTokenizerLoadType], [("FILE", 0), ("MODEL", 1)]),
    (lambda: [(x.name, int(x)) for x in text.SPieceTokenizerOutType], [("STRING", 0), ("INT", 1)]),
    (
        lambda: transforms.Mask(transforms.Relational.EQ, 3)(np.array([1, 2, 3, 4])),
        ("bool", [False, False, True, False]),
    ),
    (lambda: transforms.Mask(transforms.Relational.NE, 3)(np.array([1, 2, 3, 4])), ("bool", [True, True, False, True])),
    (
        lambda: transforms.Mask(transforms.Relational.LT, 3)(np.array([[1, 2], [3, 4]])),
        ("bool", [[True, True], [False, False]]),
    ),
    (lambda: transforms.Mask(transforms.Relational.LE, 3, ms.int16)(np.array([1, 2, 3, 4])), ("int16", [1, 1, 1, 0])),
    (
        lambda: transforms.Mask(transforms.Relational.GT, 2.5, ms.float32)(np.array([1, 2, 3, 4.0])),
        ("float32", [0.0, 0.0, 1.0, 1.0]),
    ),
    (lambda: transforms.Mask(transforms.Relational.EQ, "a")(np.array(["a", "b"])), ("bool", [True, False])),
    (lambda: transforms.Mask(transforms.Relational.EQ, True)(np.array([True, False])), ("bool", [True, False])),
    (lambda: transforms.Mask(transforms.Relational.LT, "b")(np.array(["a", "b"])), ("bool", [True, False])),
    (lambda: transforms.Mask(transforms.Relational.EQ, 3)(np.array(3)), ("bool", True)),
    (
        lambda: [(x.name, int(x)) for x in transforms.Relational],
        [("EQ", 0), ("NE", 1), ("GT", 2), ("GE", 3), ("LT", 4), ("LE", 5)],
    ),
    (lambda: text.FilterWikipediaXML()("a<b>c</b>d"), "ad"),
    (lambda: text.FilterWikipediaXML()("[http://x.y z]"), "http x y z"),
    (lambda: text.FilterWikipediaXML()("[https://x.y z]"), "https x y z"),
    (lambda: text.FilterWikipediaXML()("&lt;p&gt;hi"), "p hi"),
    (lambda: text.FilterWikipediaXML()("&amp;amp;x"), "amp x"),
    (lambda: text.FilterWikipediaXML()("{{a b}}c"), "a b c"),
    (lambda: text.FilterWikipediaXML()("{a}b"), "a b"),
    (lambda: text.FilterWikipediaXML()("[[a|b]]"), "a b"),
    (lambda: text.FilterWikipediaXML()("[[a]]"), "a"),
    (lambda: text.FilterWikipediaXML()("[[category:foo|bar]]"), "category foo bar"),
    (lambda: text.FilterWikipediaXML()("[[Category:foo]]"), "category foo"),
    (lambda: text.FilterWikipediaXML()("[[en:foo bar]]"), "en foo bar"),
    (lambda: text.FilterWikipediaXML()("[[image:a.jpg|thumb|Cap]]"), "image a jpg thumb cap"),
    (lambda: text.FilterWikipediaXML()("x|thumb|y"), "x thumb y"),
    (lambda: text.FilterWikipediaXML()("|100px|z"), "one zero zero px z"),
    (lambda: text.FilterWikipediaXML()("10.5"), "one zero five"),
    (lambda: text.FilterWikipediaXML()("A1B"), "a one b"),
    (lambda: text.FilterWikipediaXML()("é ü"), ""),
    (lambda: text.FilterWikipediaXML()("a_b"), "a b"),
    (lambda: text.FilterWikipediaXML()("don't"), "don t"),
    (lambda: text.FilterWikipediaXML()("a\nb\tc"), "a b c"),
    (lambda: text.FilterWikipediaXML()("#REDIRECT [[x]]"), ""),
    (lambda: text.FilterWikipediaXML()("#redirect y"), ""),
    (lambda: text.FilterWikipediaXML()("<page>"), ""),
    (lambda: text.FilterWikipediaXML()("text <ref>foo</ref> bar"), "text bar"),
    (lambda: text.FilterWikipediaXML()('<text xml:space="preserve">Hello World'), "hello world"),
    (lambda: text.FilterWikipediaXML()("http://foo.bar"), "http foo bar"),
    (lambda: text.FilterWikipediaXML()("a--b"), "a b"),
    (lambda: text.FilterWikipediaXML()("  x  "), "x"),
    (lambda: text.FilterWikipediaXML()(""), ""),
    (lambda: text.FilterWikipediaXML()("0"), "zero"),
    (lambda: text.FilterWikipediaXML()("日本 x"), "x"),
    (lambda: text.FilterWikipediaXML()("&nbsp;"), ""),
    (lambda: text.FilterWikipediaXML()("&#160;q"), "q"),
    (lambda: text.FilterWikipediaXML()("a & b; c"), "a c"),
    (lambda: text.FilterWikipediaXML()("<a"), "a"),
    (lambda: text.FilterWikipediaXML()("b>c"), "b c"),
    (lambda: text.FilterWikipediaXML()("x [y"), "x y"),
    (lambda: text.FilterWikipediaXML()("[http:/x]w"), "http x w"),
    (lambda: text.FilterWikipediaXML()("[[zh-min-nan:AA|BB]]"), "zh min nan aa bb"),
    (lambda: text.BasicTokenizer(True)("가É"), ["가e"]),
    (
        lambda: text.BasicTokenizer(False)("a [CLS] B [unused1] [unused] [SEP]x"),
        ["a", "[CLS]", "B", "[unused1]", "[", "unused", "]", "[SEP]", "x"],
    ),
    (lambda: text.SlidingWindow(5)(np.array([1, 2])).shape, (0,)),
    (lambda: text.Truncate(2)(np.array([[1, 2, 3]])).shape, (1, 2)),
    (lambda: text.Ngram(2)(np.array(["a"])).shape, (1,)),
    (lambda: text.CaseFold()("x\u00ad\u200by"), "xy"),
    (lambda: text.RegexReplace("[\\p{Cc}|\\p{Cf}]", "_")("a\u0007b|c"), "a_b_c"),
    (lambda: text.RegexReplace("\\P{L}", "_")("a1B!"), "a_B_"),
    (lambda: text.RegexReplace("[^\\p{L}]", "_")("a1B!"), "a_B_"),
    (lambda: text.RegexReplace("\\p{Han}", "_")("a北"), "a_"),
    (lambda: text.NormalizeUTF8()(np.array(["ﬁ", "x"])), ["fi", "x"]),
    (lambda: text.WordpieceTokenizer(V)(np.array([""])), [""]),
]


@pytest.mark.parametrize(("make", "expected"), RESULTS)
def test_text_becomes_what_mindspore_makes_of_it(make: Callable[[], Any], expected: Any) -> None:
    assert plain(make()) == expected


REFUSED: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: text.WhitespaceTokenizer()(np.array(["a b"])), RuntimeError),
    (lambda: text.WhitespaceTokenizer()(3), RuntimeError),
    (lambda: text.WhitespaceTokenizer(1), TypeError),
    (lambda: text.WhitespaceTokenizer()(b"a b"), RuntimeError),
    (lambda: text.NormalizeUTF8("NFC"), TypeError),
    (lambda: text.RegexReplace("(", "b")("(x"), RuntimeError),
    (lambda: text.RegexReplace("a", "$2")("a"), RuntimeError),
    (lambda: text.RegexReplace(3, "b"), TypeError),
    (lambda: text.RegexReplace("a", "b", 1), TypeError),
    (lambda: text.RegexTokenizer(3), TypeError),
    (lambda: text.BasicTokenizer(1), TypeError),
    (lambda: text.BasicTokenizer()(np.array(["a", "b"])), RuntimeError),
    (lambda: text.WordpieceTokenizer(V, max_bytes_per_token=-1), ValueError),
    (lambda: text.WordpieceTokenizer(3), TypeError),
    (lambda: text.Lookup(V)(np.array(["nope"])), RuntimeError),
    (lambda: text.Lookup(V, "zzz")("book"), RuntimeError),
    (lambda: text.Lookup(V, 3), TypeError),
    (lambda: text.Lookup(3), TypeError),
    (lambda: text.Lookup(V)(np.array([1])), RuntimeError),
    (lambda: text.Ngram(2)("a"), RuntimeError),
    (lambda: text.Ngram(2)(np.array([["a"]])), RuntimeError),
    (lambda: text.Ngram(2)(np.array([1, 2])), RuntimeError),
    (lambda: text.Ngram(0), ValueError),
    (lambda: text.Ngram("a"), ValueError),
    (lambda: text.Ngram(2, ("a", -1)), ValueError),
    (lambda: text.Ngram(2, "a"), ValueError),
    (lambda: text.Ngram([]), ValueError),
    (lambda: text.SlidingWindow(2, 0)(np.array([[1, 2], [3, 4], [5, 6]])), RuntimeError),
    (lambda: text.SlidingWindow(2, 1)(np.array([[1, 2, 3], [3, 4, 5]])), RuntimeError),
    (lambda: text.SlidingWindow(2, -1)(np.array([["a", "b", "c"]])), RuntimeError),
    (lambda: text.SlidingWindow(2)(np.array(1)), RuntimeError),
    (lambda: text.SlidingWindow(2, 2)(np.array([1, 2])), RuntimeError),
    (lambda: text.SlidingWindow(2, -2)(np.array([[1], [2], [3]])), RuntimeError),
    (lambda: text.SlidingWindow(0), ValueError),
    (lambda: text.SlidingWindow(2, "a"), TypeError),
    (lambda: text.ToNumber(ms.int8)(np.array(["300"])), RuntimeError),
    (lambda: text.ToNumber(ms.int32)("x"), RuntimeError),
    (lambda: text.ToNumber(ms.int32)(""), RuntimeError),
    (lambda: text.ToNumber(ms.float32)("x"), RuntimeError),
    (lambda: text.ToNumber(ms.float32)("inf"), RuntimeError),
    (lambda: text.ToNumber(ms.float32)("1e50"), RuntimeError),
    (lambda: text.ToNumber(ms.uint8)("-1"), RuntimeError),
    (lambda: text.ToNumber(ms.int64)("9223372036854775808"), RuntimeError),
    (lambda: text.ToNumber(ms.bool_)("1"), TypeError),
    (lambda: text.ToNumber(3), TypeError),
    (lambda: text.ToNumber(ms.int32)(3), RuntimeError),
    (lambda: text.Truncate(0)(np.array([1])), ValueError),
    (lambda: text.Truncate(-1), ValueError),
    (lambda: text.Truncate("a"), TypeError),
    (lambda: text.Truncate(2)(np.array(1)), RuntimeError),
    (lambda: text.Truncate(1)(np.array([[[1]]])), RuntimeError),
    (lambda: text.TruncateSequencePair(3)(np.array([1, 2])), RuntimeError),
    (lambda: text.TruncateSequencePair(3)(np.array([[1, 2]]), np.array([5])), RuntimeError),
    (lambda: text.AddToken("T")("a"), RuntimeError),
    (lambda: text.AddToken("T")(np.array([1])), RuntimeError),
    (lambda: text.AddToken(1), TypeError),
    (lambda: text.AddToken("T", 1), TypeError),
    (lambda: text.AddToken("T")(np.array([[["a"]]])), RuntimeError),
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))("a-b-c"), TypeError),
    (lambda: text.PythonTokenizer(lambda s: s.split("-"))(3), TypeError),
    (lambda: text.PythonTokenizer(lambda s: 3)("a"), TypeError),
    (lambda: text.to_bytes(["a"]), ValueError),
    (lambda: text.to_str(["a"]), TypeError),
    (lambda: text.Vocab.from_list(["w1", "w1"]), ValueError),
    (lambda: text.Vocab.from_list(["w1"], ["w1"]), ValueError),
    (lambda: text.Vocab.from_list(["w1"], ["a", "a"]), ValueError),
    (lambda: text.Vocab.from_list("ab"), TypeError),
    (lambda: text.Vocab.from_list([1]), TypeError),
    (lambda: text.Vocab.from_dict({"a": -1}), ValueError),
    (lambda: text.Vocab.from_dict({"a": "x"}), TypeError),
    (lambda: text.Vocab.from_dict({1: 1}), TypeError),
    (lambda: text.Vocab.from_dict(3), TypeError),
    (lambda: V.tokens_to_ids(3), TypeError),
    (lambda: V.tokens_to_ids([1]), TypeError),
    (lambda: V.ids_to_tokens(-1), ValueError),
    (lambda: V.ids_to_tokens("a"), TypeError),
    (lambda: V.ids_to_tokens(1.5), TypeError),
    (lambda: text.Vocab().vocab(), RuntimeError),
    (lambda: text.Lookup(text.Vocab()), TypeError),
    (lambda: text.Vocab.from_file(3), TypeError),
    (lambda: text.ToVectors(3), TypeError),
    (lambda: text.Vectors.from_file(3), TypeError),
    (lambda: transforms.Mask(transforms.Relational.EQ, 1)(np.array(["a"])), RuntimeError),
    (lambda: transforms.Mask(transforms.Relational.EQ, "a")(np.array([1])), RuntimeError),
    (lambda: transforms.Mask(1, 3), TypeError),
    (lambda: transforms.Mask(transforms.Relational.EQ, None), TypeError),
    (lambda: transforms.Mask(transforms.Relational.EQ, 3, "x"), TypeError),
    (lambda: text.RegexReplace("\\pL", "_")("a1"), RuntimeError),
    (lambda: text.CaseFold()(np.array([1])), RuntimeError),
    (lambda: text.CaseFold()(3), RuntimeError),
    (lambda: text.WordpieceTokenizer(V)(np.array([["a"]])), RuntimeError),
]


@pytest.mark.parametrize(("make", "error"), REFUSED)
def test_what_mindspore_refuses_is_refused_in_one_sentence(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="^(For '|the Vocab is empty|'dtype' must be a MindSpore dtype)") as raised:
        make()
    assert "\n" not in str(raised.value)


def test_where_mindspore_repeats_or_loses_text_it_is_neither_repeated_nor_lost() -> None:
    marked = "  Wélcome, TO Bei-jing!北京 \u200b\u0007x [UNK] [CLS]a"
    expected = ["welcome", ",", "to", "bei", "-", "jing", "!", "北", "京", "x", "[UNK]", "[CLS]", "a"]
    assert text.BasicTokenizer(True)(marked).tolist() == expected
    assert text.RegexReplace("apple", "orange")(np.array(["apple apple", "x"])).tolist() == ["orange orange", "x"]
    assert text.FilterWikipediaXML()(np.array(["A", "b"])).tolist() == ["a", "b"]
    at_least = transforms.Mask(transforms.Relational.GE, 2.5)
    assert at_least(np.array([1, 2, 3, 4])).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (lambda: text.Vocab.from_list(["w1", "w2"]), {"w1": 0, "w2": 1}),
        (lambda: text.Vocab.from_list(["w1", "w2"], ["<unk>"]), {"<unk>": 0, "w1": 1, "w2": 2}),
        (lambda: text.Vocab.from_list(["w1", "w2"], ["<unk>"], False), {"w1": 0, "w2": 1, "<unk>": 2}),
        (lambda: text.Vocab.from_dict({"a": 3, "b": 1}), {"a": 3, "b": 1}),
    ],
)
def test_a_vocabulary_numbers_its_words(output: Any, expected: dict[str, int]) -> None:
    assert output().vocab() == expected


def test_a_vocabulary_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("apple,1\nbook,2\ncat\n")
    from_file = text.Vocab.from_file
    assert from_file(str(file)).vocab() == {"apple,1": 0, "book,2": 1, "cat": 2}
    assert from_file(str(file), ",").vocab() == {"apple": 0, "book": 1, "cat": 2}
    assert from_file(str(file), ",", 1, ["<s>"]).vocab() == {"<s>": 0, "apple": 1}
    assert len(from_file(str(file), ",", 10).vocab()) == 3
    with pytest.raises(ValueError, match="'vocab_size' must be above 0"):
        from_file(str(file), ",", 0)
    with pytest.raises(RuntimeError, match="cannot be read as text"):
        from_file(str(tmp_path / "none"))
    file.write_text("a\na\n")
    with pytest.raises(RuntimeError, match="'a' is there twice"):
        from_file(str(file))


def words() -> Any:
    return ds.NumpySlicesDataset({"t": np.array([["a", "b"], ["a", "c"], ["a", "b"], ["d", "b"]])}, shuffle=False)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), {"a": 0, "b": 1, "c": 2, "d": 3}),
        (("t",), {"a": 0, "b": 1, "c": 2, "d": 3}),
        ((["t"], (2, None)), {"a": 0, "b": 1}),
        ((["t"], (None, 2)), {"c": 0, "d": 1}),
        ((["t"], None, 2), {"a": 0, "b": 1}),
        ((["t"], None, 2, ["<pad>"], True), {"<pad>": 0, "a": 1, "b": 2}),
        ((["t"], None, 2, ["<pad>"], False), {"a": 0, "b": 1, "<pad>": 2}),
    ],
)
def test_a_vocabulary_counts_the_words_of_a_data_set(arguments: Any, expected: dict[str, int]) -> None:
    assert text.Vocab.from_dataset(words(), *arguments).vocab() == expected


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((["t"], None, 2, ["a"]), RuntimeError, "'special_tokens' must not be in the data set"),
        ((["z"],), RuntimeError, "there is no column 'z'"),
        ((["t"], (3, 1)), ValueError, "'freq_range' must rise from 0 on"),
        ((["t"], (-1, 1)), ValueError, "'freq_range' must rise from 0 on"),
        ((["t"], 3), TypeError, "'freq_range' must be a tuple"),
        ((["t"], None, 0), ValueError, "'top_k' must be above 0"),
        ((["t"], None, "a"), TypeError, "'top_k' must be an int"),
    ],
)
def test_words_of_a_data_set_that_make_no_vocabulary_are_refused(arguments: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        text.Vocab.from_dataset(words(), *arguments)


def test_only_text_of_a_data_set_makes_a_vocabulary() -> None:
    with pytest.raises(RuntimeError, match="the columns must hold text"):
        text.Vocab.from_dataset(ds.NumpySlicesDataset([1, 2], "n"))
    with pytest.raises(TypeError, match="'dataset' must be a data set, but got 3"):
        text.Vocab.from_dataset(3)  # type: ignore[arg-type]


OK, TWO = np.float32([0.1, 0.2, 0.3]).tolist(), [1.0, 2.0, 3.0]
LINES = "ok 0.1 0.2 0.3\ntwo 1 2 3\n"


@pytest.mark.parametrize(
    ("kind", "name", "lines"),
    [
        (text.Vectors, "any", LINES),
        (text.Vectors, "any", f"2 3\n{LINES}"),
        (text.FastText, "x.vec", f"2 3\n{LINES}"),
        (text.GloVe, "glove.6B.3d.txt", LINES),
    ],
)
def test_words_become_vectors(tmp_path: Path, kind: Any, name: str, lines: str) -> None:
    file = tmp_path / name
    file.write_text(lines)
    vectors = kind.from_file(str(file))
    assert plain(text.ToVectors(vectors)("ok")) == ("float32", OK)
    result = text.ToVectors(vectors, [1, 1, 1], True)(np.array([["OK", "two"], ["none", "ok"]]))
    assert plain(result) == ("float32", [[OK, TWO], [[1.0] * 3, OK]])
    first = text.ToVectors(kind.from_file(str(file), 1))
    assert plain(first(np.array(["two", "OK", "ok"]))) == ("float32", [[0.0] * 3, [0.0] * 3, OK])
    with pytest.raises(RuntimeError, match="'unk_init' must have 3 numbers, but has 2"):
        text.ToVectors(vectors, [1, 2])("ok")
    with pytest.raises(RuntimeError, match="the value must be text"):
        text.ToVectors(vectors)(3)


def test_the_vector_of_a_word_is_the_mean_of_its_neighboring_characters(tmp_path: Path) -> None:
    file = tmp_path / "grams"
    file.write_text(
        "1gram-a 1 2\n2gram-ab 3 4\n1gram-b 5 6\n3gram-abc 7 8\n2gram-bc 1 1\n"
        "3gram-#BEGIN#ab 2 2\n2gram-#BEGIN#a 10 20\n"
    )
    grams = text.CharNGram.from_file(str(file))
    result = text.ToVectors(grams)(np.array(["abc", "q", "ab"]))
    assert np.array_equal(result, np.float32([[4.6, 7], [0, 0], [5, 26 / 3]]))
    assert np.array_equal(text.ToVectors(grams, [9, 9], True)(np.array(["ABC", "q"])), np.float32([[4.6, 7], [9, 9]]))


@pytest.mark.parametrize(
    ("kind", "lines", "arguments", "error", "match"),
    [
        (text.Vectors, "ok 1 2\ntwo 1\n", (), RuntimeError, "must have one length, at least 2, but 'two' has 1"),
        (text.Vectors, "ok 1 x\n", (), RuntimeError, "a line with no numbers"),
        (text.Vectors, "", (), RuntimeError, "has no vectors"),
        (text.Vectors, LINES, (-1,), ValueError, "'max_vectors' must not be negative"),
        (text.Vectors, LINES, ("a",), TypeError, "'max_vectors' must be an int"),
        (text.GloVe, LINES, (), RuntimeError, "must be glove.6B.*.txt"),
        (text.FastText, LINES, (), RuntimeError, "must be *.vec"),
    ],
)
def test_files_without_vectors_are_refused(
    tmp_path: Path, kind: Any, lines: str, arguments: Any, error: Any, match: str
) -> None:
    file = tmp_path / "vectors"
    file.write_text(lines)
    with pytest.raises(error) as raised:
        kind.from_file(str(file), *arguments)
    assert match in str(raised.value)
    with pytest.raises(RuntimeError, match="cannot be read as text"):
        kind.from_file(str(tmp_path / "none"))


def test_tokenizers_are_steps_of_a_pipeline() -> None:
    lines = ds.NumpySlicesDataset(["favorite booklet", "a book"], "t", shuffle=False)
    ids = lines.map([text.BertTokenizer(V), text.Lookup(V, "[UNK]")], ["t"])
    assert [row[0].tolist() for row in ids.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [
        [3, 4, 1, 2],
        [7, 1],
    ]
    placed = lines.map(text.WhitespaceTokenizer(True), ["t"], ["word", "start", "end"])
    results = [
        [value.tolist() for value in row] for row in placed.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]
    assert results == [[["favorite", "booklet"], [0, 9], [8, 16]], [["a", "book"], [0, 2], [1, 6]]]
    assert lines.map(lambda t: t, ["t"]).output_types()[0].kind == "U"


def test_names_of_choices_have_mindspores_numbers() -> None:
    assert {item.name: int(item) for item in text.JiebaMode} == {"MIX": 0, "MP": 1, "HMM": 2}
    assert {item.name: int(item) for item in text.SentencePieceModel} == {"UNIGRAM": 0, "BPE": 1, "CHAR": 2, "WORD": 3}
    assert {item.name: int(item) for item in text.SPieceTokenizerLoadType} == {"FILE": 0, "MODEL": 1}
    assert {item.name: int(item) for item in text.SPieceTokenizerOutType} == {"STRING": 0, "INT": 1}
    assert [item.name for item in transforms.Relational] == ["EQ", "NE", "GT", "GE", "LT", "LE"]
    assert text.utils.Vocab is text.Vocab and text.transforms.Lookup is text.Lookup


class FakeJieba:
    """The part of the package ``jieba`` that is used: words of two characters, and those that were added."""

    def __init__(self, dictionary: str | None = None) -> None:
        self.dictionary, self.added = dictionary, {}  # type: ignore[var-annotated]

    def add_word(self, word: str, freq: int | None) -> None:
        self.added[word] = freq

    def cut(self, argument: str, HMM: bool = True) -> list[str]:  # noqa: N803  (the package's name)
        return [argument[:2], argument[2:]] if HMM else list(argument)


def test_jieba_is_asked_for_words_and_named_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "words"
    file.write_text("word 1 n\n")
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(ImportError, match="For 'JiebaTokenizer', the package 'jieba' is needed: pip install jieba"):
        text.JiebaTokenizer(str(file), str(file))
    samples: list[FakeJieba] = []
    fake = SimpleNamespace(
        Tokenizer=lambda path: samples.append(FakeJieba(path)) or samples[-1],
        finalseg=SimpleNamespace(cut=lambda argument: [argument]),
    )
    monkeypatch.setitem(sys.modules, "jieba", fake)
    mixed = text.JiebaTokenizer(str(file), str(file), with_offsets=True)
    mixed.add_dict({"北京": 3})
    assert samples[-1].dictionary == str(file) and samples[-1].added == {"北京": 3}
    assert plain(mixed("北京x")) == (["北京", "x"], ("uint32", [0, 6]), ("uint32", [6, 7]))
    assert text.JiebaTokenizer(str(file), str(file), text.JiebaMode.MP)("北京x").tolist() == ["北", "京", "x"]
    assert text.JiebaTokenizer(str(file), str(file), text.JiebaMode.HMM)("北京x").tolist() == ["北京x"]
    with pytest.raises(ValueError, match="'mp_path' must be a file"):
        text.JiebaTokenizer(str(file), str(tmp_path / "none"))
    with pytest.raises(ValueError, match="'word' must not be empty"):
        mixed.add_word("")


def test_sentencepiece_is_asked_for_pieces_and_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    string = text.SPieceTokenizerOutType.STRING
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    for needs in (
        lambda: text.SentencePieceTokenizer("model", string),
        lambda: text.SentencePieceVocab.from_dataset(words(), ["t"], 9, 0.99, text.SentencePieceModel.BPE, {}),
    ):
        with pytest.raises(ImportError, match="the package 'sentencepiece' is needed: pip install sentencepiece"):
            needs()
    learned: dict[str, Any] = {}

    class Trainer:
        @staticmethod
        def train(sentence_iterator: Any, model_writer: Any, **more: Any) -> None:
            learned.update(more, texts=list(sentence_iterator))
            model_writer.write(b"model")

    class Processor:
        def __init__(self, model_proto: bytes) -> None:
            assert model_proto == b"model"

        def encode(self, argument: str, out_type: Any) -> list[Any]:
            return [out_type(item) for item in argument.split()]

    fake = SimpleNamespace(SentencePieceTrainer=Trainer, SentencePieceProcessor=Processor)
    monkeypatch.setitem(sys.modules, "sentencepiece", fake)
    vocab = text.SentencePieceVocab.from_dataset(words(), [], 9, 0.99, text.SentencePieceModel.BPE, {"seed": 3})
    assert learned == {
        "vocab_size": 9,
        "character_coverage": 0.99,
        "model_type": "bpe",
        "seed": 3,
        "texts": ["a", "b", "a", "c", "a", "b", "d", "b"],
    }
    assert plain(text.SentencePieceTokenizer(vocab, string)("1 2")) == ["1", "2"]
    numbers = text.SentencePieceTokenizer(vocab, text.SPieceTokenizerOutType.INT)("1 2")
    assert plain(numbers) == ("int32", [1, 2])


def test_a_mark_of_what_is_not_random_and_a_library_of_theirs() -> None:
    def function() -> None: ...

    assert transforms.not_random(function) is function and function.random is False  # type: ignore[attr-defined]
    with pytest.raises(NotImplementedError, match="transforms.Plugin is not covered by hookscope"):
        transforms.Plugin("lib.so", "function")
