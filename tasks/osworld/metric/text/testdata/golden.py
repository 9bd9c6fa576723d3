"""Prints golden values for the tests: /usr/bin/python3 testdata/golden.py > testdata/golden.json"""
import csv
import io
import json

import yaml

texts = ["", "a", "a\n", "a\n\nb", "\n", "a\r\nb\rc", "a\vb\fc", "a\x1cb\x1db\x1e", "a\x85b\u2028c\u2029", "a\x1fb", "\r\n\r\n", "a\n\r"]
tables = ['a,b\n1,2\n', 'a,b\n1\n', 'a,b\n1,2,3\n', 'a,b\n\n1,2\n\n', 'a,b\n"x,y","z\nw"\n', 'a,b\n"x""y",""\n',
          'a,b\n"x"y,z"w"\n', 'a,b\n x, "y"\n', 'a,a\n1,2\n', 'a,b\n1,2', 'a,b\n"open\nend', '""\nx\n\ny\n', 'a\n""\n', 'a,\n,\n',
          'é,日\n"ß",本\n', '', 'a,b']
documents = ["a: 1\nb: [x, 'y', \"z\"]\n", "a: yes\nb: No\nc: on\nd: 'yes'\ne: y\n", "a: 010\nb: 0x1F\nc: 1_000\nd: 0b11\ne: 09\nf: -7\ng: +3\n",
             "a: 1e3\nb: 1.5e+3\nc: .5\nd: 1.\ne: -.inf\nf: 1.0e3\n", "a: ~\nb:\nc: null\nd: Null\ne: ''\n",
             "a: 1:30\nb: 1:30.5\nc: 12:99\n", "a: |\n  x\n  y\nb: >\n  x\n  y\nc: |-\n  z\n", "- 1\n- - 2\n  - 3\n- k: v\n  l: w\n",
             "base: &b {x: 1, y: 2}\nnew:\n  <<: *b\n  y: 3\n", "a: &x [1, 2]\nb: *x\n", "a: !!str 1\nb: !!str yes\n",
             "? a\n: 1\n", "7: x\ntrue: y\n", "# only\n# comments\n", "a: b # c\nd: 'it''s'\ne: \"\\u00e9\\n\"\n", "---\na: 1\n", "a: x\n  y\n",
             "plain text\n", "[1, {a: b}]\n", "a: {}\nb: []\n", "a: 1\nb: 2\na: 3\n", "a: http://x.y/z\nb: \"x: y\"\n"]


def names(v):
    """Keys are texts in JSON, as Python's str() writes them."""
    if isinstance(v, dict):
        return {str(k): names(x) for k, x in v.items()}
    if isinstance(v, list):
        return [names(x) for x in v]
    return "-inf" if v == float("-inf") else v


print(json.dumps({
    "lines": [{"text": t, "lines": t.splitlines(), "words": t.split()} for t in texts],
    "csv": [{"text": t, "rows": [{k: v for k, v in r.items() if k is not None} for r in csv.DictReader(io.StringIO(t))]} for t in tables],
    "yaml": [{"text": d, "value": names(yaml.load(d, Loader=yaml.Loader))} for d in documents],
}))
