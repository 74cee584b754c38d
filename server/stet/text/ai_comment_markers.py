"""The marks of instructions in comments, and how comments that have an end are written."""

import re
from enum import StrEnum

AT_START = re.compile(r"AI([!?])(?=[\s:,.]|$)[\s:,.]*", re.IGNORECASE)
"""The mark at the beginning of what a comment says, with what parts it from the rest."""
BLOCKS = (
    ("/*", "*/"), ("<!--", "-->"), ("(*", "*)"), ("{-", "-}"), ("--[[", "]]"), ("#|", "|#"),
    ("#=", "=#"), ("<#", "#>"), ("%{", "%}"), ("{#", "#}"), ("{{!--", "--}}"), ("{{!", "}}"),
    ("<%--", "--%>"), ("<%#", "%>"), ("=begin", "=end"), ("@*", "*@"), ("/+", "+/"), ("#[", "]#"),
    ("{", "}"),
)  # fmt: skip
"""How comments that have an end begin and end, in languages that have them."""


class Marker(StrEnum):
    """What a comment wants."""

    DO = "AI!"
    """It is carried out."""
    ANSWER = "AI?"
    """It is answered."""


def marker_of(sign: str) -> Marker:
    """What a mark of that sign, `!` or `?`, wants."""
    return Marker.DO if sign == "!" else Marker.ANSWER
