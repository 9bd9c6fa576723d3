"""Prints golden values for the tests: /usr/bin/python3 testdata/golden.py > testdata/golden.json

Levenshtein (Debian's python3-levenshtein) computes the same ratio as RapidFuzz's
fuzz.ratio.
"""
import difflib
import json
import random

import Levenshtein


def ratio(a, b):
    if not a and not b:
        return 100.0
    return Levenshtein.ratio(a, b) * 100


rnd = random.Random(1)


def text(alphabet, n):
    return "".join(rnd.choice(alphabet) for _ in range(n))


pairs = [("", ""), ("", "a"), ("a", ""), ("a", "a"), ("kitten", "sitting"), ("ab", "ba"),
         ("this is a test", "this is a test!"), ("Grüße", "Grusse"), ("日本語", "日本"),
         ("👍🏽 yes", "yes 👍"), ("new york mets", "mets york  new"), ("a\x1fb", "b a"),
         ("fuzzy wuzzy was a bear", "wuzzy fuzzy was a bear"), ("abcd", "XXXbcdeEEE")]
for n, m in [(10, 30), (63, 64), (64, 64), (65, 63), (127, 129), (130, 20), (200, 200)]:
    for alphabet in ("ab", "abcdefgh ", "aäé日 "):
        pairs.append((text(alphabet, n), text(alphabet, m)))

lists = [([], []), (["a"], []), (["a", "b"], ["b", "a"]), (list("abxcd"), list("abcd")),
         (list("qabxcd"), list("abycdf"))]
for n, kinds in [(30, 5), (199, 3), (200, 3), (201, 40), (450, 60)]:
    lists.append(([str(rnd.randrange(kinds)) for _ in range(n)],
                  [str(rnd.randrange(kinds)) for _ in range(n)]))

print(json.dumps({
    "texts": [{"a": a, "b": b, "ratio": ratio(a, b)} for a, b in pairs],
    "lines": [{"a": a, "b": b, "ratio": difflib.SequenceMatcher(None, a, b).ratio()} for a, b in lists],
}))
