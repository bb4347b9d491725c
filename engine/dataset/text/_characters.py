"""Unicode properties of characters, and regular expressions on them, which Python's ``re`` lacks."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

# First words of names of letters that do not name a script.
_NO_SCRIPT = {
    "BLACK-LETTER",
    "COMBINING",
    "DOUBLE-STRUCK",
    "FEMININE",
    "INFORMATION",
    "KATAKANA-HIRAGANA",
    "MASCULINE",
    "MATHEMATICAL",
    "MICRO",
    "MODIFIER",
    "SCRIPT",
}
_WIDTHS = {"FULLWIDTH", "HALFWIDTH"}
# Unicode's default ignorable characters: soft hyphens, joiners, marks of direction, selectors of variants.
_FOLDED_AWAY = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0]"
)


@cache
def script_of(character: str) -> str:
    """Return the script named by a character's name: LATIN, CJK, ...; COMMON for signs and digits, COMBINING for
    marks."""
    terms = unicodedata.name(character, "").split()
    if terms and terms[0] in _WIDTHS:
        terms = terms[1:]
    kind = unicodedata.category(character)
    if kind[0] == "M" and terms[:1] == ["COMBINING"]:
        return "COMBINING"
    return "COMMON" if kind[0] not in "LM" or not terms or terms[0] in _NO_SCRIPT else terms[0]


def case_folded(text: str) -> str:
    """Return text in NFKC_Casefold form, which unifies upper and lower case and compatible characters."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold()).casefold()
    return unicodedata.normalize("NFKC", _FOLDED_AWAY.sub("", folded))


@cache
def _ranges(kind: str) -> str:
    """Return the characters of a general category or a script, for use within brackets."""
    script = "CJK" if kind == "Han" else kind.upper()
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character).startswith(kind) if kind in _KINDS else script_of(character) == script:
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(rf"\U{low:08x}-\U{high:08x}" for low, high in ranges)


_KINDS = set("CLMNPSZ") | {
    "Cc",
    "Cf",
    "Cn",
    "Co",
    "Cs",
    "Ll",
    "Lm",
    "Lo",
    "Lt",
    "Lu",
    "Mc",
    "Me",
    "Mn",
    "Nd",
    "Nl",
    "No",
    "Pc",
    "Pd",
    "Pe",
    "Pf",
    "Pi",
    "Po",
    "Ps",
    "Sc",
    "Sk",
    "Sm",
    "So",
    "Zl",
    "Zp",
    "Zs",
}
_PROPERTY = re.compile(r"\\([pP])\{([A-Za-z]+)\}")


def pattern_of(caller: str, argument: str, pattern: str) -> re.Pattern[str]:
    """Return a regular expression in which ``\\p{..}`` matches the characters of a general category or a script.

    Raises:
        RuntimeError: the pattern is invalid, or uses an unknown property.
    """
    result, at, inside = "", 0, False
    while at < len(pattern):
        match = _PROPERTY.match(pattern, at)
        if match is None:
            step = 2 if pattern[at] == "\\" else 1
            if step == 1:
                inside = pattern[at] == "[" or (inside and pattern[at] != "]")
            result += pattern[at : at + step]
            at += step
            continue
        ranges = _ranges(match[2])
        if not ranges or (inside and match[1] == "P"):
            raise RuntimeError(
                f"For '{caller}', '{argument}' must ask for a general category or a script, such as \\p{{Lu}} or "
                f"\\p{{Greek}}, and with \\P outside of brackets, but got {match[0]} in {pattern!r}"
            )
        result += ranges if inside else f"[{'^' if match[1] == 'P' else ''}{ranges}]"
        at = match.end()
    try:
        return re.compile(result)
    except re.error as error:
        raise RuntimeError(f"For '{caller}', '{argument}' is not a regular expression: {pattern!r}: {error}") from error
