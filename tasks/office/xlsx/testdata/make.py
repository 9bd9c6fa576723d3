#!/usr/bin/python3
"""Makes frames.xlsx and frames.json: sheets, and what pandas makes of them.

    cd testdata && /usr/bin/python3 make.py        # pandas 1.5.3, openpyxl 3.0.9

frames.json holds, for each sheet, its headers and last row as texts and the types
of its columns, and for each precision the pairs of sheets that are equal:
    pandas.read_excel(book, a).round(p).equals(pandas.read_excel(book, b).round(p))
"""
import datetime as dt
import json

import openpyxl
import pandas as pd

D, N = dt.datetime, None
SHEETS = {
    "ints": [["a", "b"], [1, 2], [3, 4]],
    "floats": [["a", "b"], [1.0, 2.5], [3, 4]],
    "whole": [["a", "b"], [1.0, 2.0], [3.0, 4.0]],
    "almost": [["a", "b"], [1, 2], [3, 4.00000001]],
    "nearly": [["a", "b"], [1, 2.5000499], [3, 4]],
    "near2": [["a", "b"], [1, 2.5], [3, 4.00001]],
    "gap": [["a", "b"], [1, 2], [3, N]],
    "gapfloat": [["a", "b"], [1.0, 2.0], [3.0, N]],
    "text": [["a", "b"], ["1", "2"], ["3", "4"]],
    "textgap": [["a", "b"], ["1", "2"], ["3", "NA"]],
    "padded": [["a", "b"], [" 1", "2 "], ["3", " 4 "]],
    "mixed": [["a", "b"], [1, "x"], [3, 4]],
    "mixedtext": [["a", "b"], [1, "x"], [3, "4"]],
    "mixedfloat": [["a", "b"], [1, "x"], [3, 4.00000001]],
    "bools": [["a", "b"], [True, False], [False, True]],
    "boolnum": [["a", "b"], [1, 0], [0, 1]],
    "boolint": [["a", "b"], [True, 0], [0, True]],
    "boolfloat": [["a", "b"], [True, 0.5], [0, True]],
    "boolgap": [["a", "b"], [True, False], [False, N]],
    "numgap": [["a", "b"], [1, 0], [0, N]],
    "booltext": [["a", "b"], ["True", "FALSE"], ["false", "TRUE"]],
    "booltextgap": [["a", "b"], ["True", "FALSE"], ["false", "NA"]],
    "boolmix": [["a", "b"], [True, "x"], [0, True]],
    "boolmix2": [["a", "b"], [1, "x"], [False, 1]],
    "dup": [["a", "a", "a.1"], [1, 2, 3]],
    "dup2": [["a", "a.2", "a.1"], [1, 2, 3]],
    "dup3": [["a", "a.1", "a"], [1, 2, 3]],
    "unnamed": [["a", N, "c"], [1, 2, 3]],
    "unnamed2": [["a", "Unnamed: 1", "c"], [1, 2, 3]],
    "unnamed3": [["Unnamed: 1", N, "c"], [1, 2, 3]],
    "numhead": [[1, 2.0, 2.5, True], [1, 2, 3, 4]],
    "numhead2": [[1, 2, 2.5, "True"], [1, 2, 3, 4]],
    "datehead": [[D(2024, 1, 2), D(2024, 1, 2)], [1, 2]],
    "dates": [["d", "e"], [D(2024, 1, 2), 1], [D(2023, 5, 6, 7, 8, 9), 2]],
    "datesgap": [["d", "e"], [D(2024, 1, 2), 1], [N, 2]],
    "datestext": [["d", "e"], [D(2024, 1, 2), 1], ["x", 2]],
    "datesms": [["d", "e"], [D(2024, 1, 2, 0, 0, 0, 400), 1], [D(2023, 5, 6, 7, 8, 9), 2]],
    "times": [["d", "e"], [dt.time(7, 8, 9), 1], [dt.time(0, 0, 0), 2]],
    "spans": [["d", "e"], [dt.timedelta(hours=30), 1], [dt.timedelta(minutes=1), 2]],
    "onlydates": [["d", "e"], [D(2024, 1, 2), D(2024, 1, 3)]],
    "errors": [["a", "b"], ["#N/A", 2], [3, "#DIV/0!"]],
    "blankrow": [["a", "b"], [1, 2], [N, N], [3, 4]],
    "trailing": [["a", "b", N], [1, 2, N], [3, 4, ""], [N, "", N], [N, N, N]],
    "leading": [[N, N, N], [N, "a", "b"], [N, 1, 2]],
    "single": [["a"], [1], [N], [3], [" "], [N]],
    "single2": [["a"], [1], [3]],
    "singlelead": [[N], [N], ["a"], [1], [3]],
    "empty": [],
    "header": [["a", "b"]],
    "blankcol": [["a", "b"], [N, 2], [N, 4]],
    "nacol": [["a", "b"], ["NA", 2], ["nan", 4]],
    "big": [["a", "b"], [10**17, 1e300], [3, 1e-7]],
    "exp": [["a", "b"], ["1e3", "inf"], ["-.5", "+5."]],
    "expn": [["a", "b"], [1000, float("1e999")], [-.5, 5.]],
    "bad": [["a", "b"], ["1_000", "1,5"], ["0x1f", "--5"]],
    "case": [["a", "b"], ["X", "y"]],
    "case2": [["A", "b"], ["x", "Y"]],
    "half": [["a", "b"], [0.00005, 0.00015], [2.00025, 12345.67895]],
    "half2": [["a", "b"], [0.0001, 0.0001], [2.0002, 12345.679]],
    "nahead": [["NA", "b"], [1, 2]],
}
SHEETS["expn"][1][1] = "Infinity"

book = openpyxl.Workbook()
book.remove(book.active)
for name, rows in SHEETS.items():
    sheet = book.create_sheet(name)
    for row in rows:
        sheet.append(row)
book.save("frames.xlsx")

x = pd.ExcelFile("frames.xlsx")
frames = {n: pd.read_excel(x, n) for n in SHEETS}
out = {"sheets": {}, "equal": {}}
for n, f in frames.items():
    out["sheets"][n] = {
        "headers": [str(c) for c in f.columns],
        "types": [str(t) for t in f.dtypes],
        "last": f.iloc[-1].astype(str).tolist() if len(f) else None,
    }
for p in (4, 0, -1, 7):
    rounded = {n: f.round(p) for n, f in frames.items()}
    out["equal"][str(p)] = [f"{a} {b}" for a in SHEETS for b in SHEETS if a < b and rounded[a].equals(rounded[b])]
with open("frames.json", "w") as f:
    json.dump(out, f, indent=1)
