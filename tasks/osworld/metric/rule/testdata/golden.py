"""Prints golden values for the tests: /usr/bin/python3 testdata/golden.py > testdata/golden.json"""
import json
import re

searches = [
    (r"a$", ["a", "a\n", "a\n\n", "ab"], []),
    (r"^\s*$", ["", "\n", " \t\n", "x\n"], []),
    (r"a\Z", ["a", "a\n"], []),
    (r".+", ["\n", "x\n", ""], []),
    (r"a.c", ["a\nc", "abc"], []),
    (r"a.c", ["a\nc", "abc"], ["S"]),
    (r"^b$", ["a\nb\nc", "b"], ["M"]),
    (r"^b$", ["a\nb\nc", "b", "b\n"], []),
    (r"straße", ["STRASSE", "STRAßE"], ["I"]),
    (r"\w+é", ["caé", "é", "日é"], []),
    (r"^\w+$", ["日本", "a-b", "naïve\n"], []),
    (r"\d", ["٣", "3", "x"], []),
    (r"\bb", ["éb", "a b", "ab"], []),
    (r"a{,2}b$", ["b", "aab", "a{,2}b"], []),
    (r"(?P<x>a)(?P=x)", ["aa", "ab"], []),
    (r"(a)\1", ["aa", "ab"], []),
    (r"^(?!.*spam).*$", ["no", "has spam"], []),
    (r"(?<=a)b", ["ab", "cb"], []),
    (r"(?i)ABC", ["abc", "xbc"], []),
    (r"a b # comment", ["ab", "a b"], ["X"]),
    (r"[]a]", ["]", "a", "b"], []),
    (r"[^]a]", ["]", "b"], []),
    (r"[a$]", ["$", "b"], []),
    (r"[a-z[]x", ["[x", "bx", "x"], []),
    (r"a\sb", ["a\vb", "a b", "a\u00a0b", "ab"], []),
    (r"\$5", ["$5", "5"], []),
    (r"openjdk-\d+-(jre|jdk)", ["openjdk-17-jdk/now", "openjdk-jdk"], []),
    (r"A|b", ["B", "a"], ["I", "M"]),
    ("", ["", "x"], []),
]
values = [0, 1, True, False, None, 1.0, 0.5, "1", "", "a", [], [1], [True], [1, 2], {}, {"a": 1},
          {"a": 1.0}, {"a": 1, "b": None}, {"b": None, "a": True}, [[1], {"x": []}], [[1.0], {"x": []}]]
floats = ["1", " 1.5\n", "1_000", "1__0", "_1", "1_", "0x10", "inf", "-Infinity", "nan", "1e3", "1e999", "", "1,5", ".5", "5.", "+3", "1p2", "e5"]


def flags(names):
    all = re.RegexFlag(0)
    for name in names:
        all |= getattr(re, name)
    return all


def number(s):
    try:
        return repr(float(s))
    except ValueError:
        return None


print(json.dumps({
    "searches": [{"pattern": p, "flags": fs, "text": t,
                  "found": re.search(p, t, flags(fs)) is not None}
                 for p, ts, fs in searches for t in ts],
    "values": values,
    "equal": ["".join("=" if a == b else "." for b in values) for a in values],
    "floats": [{"text": s, "float": number(s)} for s in floats],
}))
