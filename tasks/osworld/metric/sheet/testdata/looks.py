#!/usr/bin/python3
"""Makes looks.xlsx with openpyxl, has LibreOffice write it again as looks-lo.xlsx,
and writes what openpyxl sees in both, and in pivot.xlsx and pivot-lo.xlsx, to
looks.json.

    cd testdata
    go test .. -run TestPivotFile -golden       # writes pivot.xlsx
    /usr/bin/python3 looks.py      # openpyxl 3.0.9, LibreOffice 7.4.7
"""
import json
import os
import shutil
import subprocess
import tempfile

import openpyxl
from openpyxl.chart import BarChart, LineChart, PieChart, Reference, ScatterChart, Series
from openpyxl.formatting.rule import CellIsRule, FormulaRule
from openpyxl.styles import Font, PatternFill
from openpyxl.styles.colors import Color
from openpyxl.worksheet.datavalidation import DataValidation


def make():
    book = openpyxl.Workbook()
    s = book.active
    s.title = "My Data"
    for row in [["Name", "Old", "New"], ["x", 1, 2.5], ["y", 3, 4], ["z", 5, 0]]:
        s.append(row)
    s["A1"].font = Font(name="Arial", size=14, bold=True, italic=True, underline="single", color="FFFF0000")
    s["B1"].font = Font(underline="double", color=Color(theme=4, tint=0.4))
    s["C1"].font = Font(color=Color(indexed=12))
    s["A2"].fill = PatternFill("solid", fgColor="FFFFFF00", bgColor="FF00FF00")
    s["B2"].number_format = "0.00"
    s["C2"].number_format = "#,##0.00"
    s["D2"] = "=B2*2"
    s["D2"].number_format = "0.0%"
    s["A4"].hyperlink = "https://example.org/a"
    s.conditional_formatting.add("B2:B4", FormulaRule(["B2>$C$3-2"], fill=PatternFill(bgColor="FFABCDEF"), font=Font(color="FF0000FF")))
    s.freeze_panes = "B2"
    s.sheet_view.zoomScale = 120
    s.row_dimensions[3].hidden = True
    s.row_dimensions[4].height = 30
    s.column_dimensions["B"].width = 20
    s.column_dimensions["C"].hidden = True
    v = DataValidation("list", formula1='"Pass,Fail,Held"', allow_blank=True)
    v.add("E2:E29")
    s.add_data_validation(v)
    v = DataValidation("whole", operator="between", formula1="1", formula2="9", error="no", errorTitle="title")
    v.add("F2:F9")
    s.add_data_validation(v)
    s.auto_filter.ref = "A1:C4"
    s.auto_filter.add_filter_column(0, ["x", "y"])
    s.auto_filter.add_sort_condition("B2:B4")

    s = book.create_sheet("Charts")
    for row in [["m", "a", "b"], [1, 2, 3], [2, 4, 5], [3, 6, 9]]:
        s.append(row)
    chart = BarChart()
    chart.type, chart.title, chart.legend.position = "bar", "A title", "b"
    chart.x_axis.title, chart.y_axis.title = "X", "Y"
    chart.add_data(Reference(s, min_col=2, max_col=3, min_row=1, max_row=4), titles_from_data=True)
    chart.set_categories(Reference(s, min_col=1, min_row=2, max_row=4))
    chart.width, chart.height = 12, 6
    s.add_chart(chart, "E2")
    chart = LineChart()
    chart.legend = None
    chart.add_data(Reference(s, min_col=2, min_row=2, max_row=4))
    s.add_chart(chart, "E20")
    chart = PieChart()
    chart.add_data(Reference(s, min_col=3, min_row=2, max_row=4))
    s.add_chart(chart, "N2")
    chart = ScatterChart()
    chart.series.append(Series(Reference(s, min_col=2, min_row=2, max_row=4), Reference(s, min_col=1, min_row=2, max_row=4)))
    s.add_chart(chart, "N20")
    book.save("looks.xlsx")


def rewrite(name):
    with tempfile.TemporaryDirectory() as d:
        subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{d}/home", "--convert-to", "xlsx:Calc MS Excel 2007 XML",
                        "--outdir", d, name], check=True, stdout=subprocess.DEVNULL)
        shutil.copy(os.path.join(d, name), name.replace(".xlsx", "-lo.xlsx"))


def rgb(colour):
    if colour is None:
        return None
    return colour.rgb if colour.type == "rgb" else "a colour of the theme or palette"


def text(title):
    try:
        return title.tx.rich.p[0].r[0].t
    except AttributeError:
        return None


def styles(sheet):
    out = {}
    for column in sheet.iter_cols():
        for c in column:
            v = c.value is not None
            f = c.font
            out[c.coordinate] = {
                "number_format": c.number_format if v and c.data_type == "n" else None,
                "font_name": f.name if v else None,
                "font_family": f.family if v else None,
                "font_color": rgb(f.color) if v else None,
                "font_bold": f.bold if v else None,
                "font_italic": f.italic if v else None,
                "font_underline": f.underline if v else None,
                "font_size": f.size if v else None,
                "fill_type": c.fill.tagname,
                "bgcolor": rgb(c.fill.fgColor),  # as OSWorld reads it
                "fgcolor": rgb(c.fill.fgColor),
            }
    return out


def charts(sheet):
    out = {}
    for c in sheet._charts:
        series = []
        for s in c.series:
            refs = []
            for part in (s.val, s.cat):
                ref = part and (part.numRef or part.strRef)
                refs.append(ref.f if ref else "")
            series.append(",".join(refs))
        out[";".join(series)] = {
            "title": text(c.title), "legend": c.legend and c.legend.position, "type": c.tagname,
            "direction": getattr(c, "barDir", None), "xtitle": hasattr(c, "x_axis") and text(c.x_axis.title) or None,
            "ytitle": hasattr(c, "y_axis") and text(c.y_axis.title) or None,
        }
    return out


def pivots(sheet):
    out = []
    for p in sheet._pivots:
        w = p.cache.cacheSource
        out.append({
            "type": w.type, "ref": w.worksheetSource.ref, "sheet": w.worksheetSource.sheet, "name": p.name,
            "rows": [f.x for f in p.rowFields], "cols": [f.x for f in p.colFields], "pages": [f.fld for f in p.pageFields],
            "data": [f"{f.fld};{f.name};{f.subtotal};{f.showDataAs}" for f in p.dataFields],
            "items": [[[bool(i.h), i.x] for i in f.items if i.x is not None] for f in p.pivotFields],
        })
    return out


def look(name):
    book = openpyxl.load_workbook(name)
    out = {}
    for s in book.worksheets:
        out[s.title] = {
            "styles": styles(s), "charts": charts(s), "pivots": pivots(s), "freeze": s.freeze_panes, "zoom": s.sheet_view.zoomScale,
            "rows": {str(r): {"hidden": d.hidden, "height": d.height, "collapsed": bool(d.collapsed)} for r, d in s.row_dimensions.items()},
            "cols": {c: {"hidden": d.hidden, "width": d.width, "min": d.min, "max": d.max} for c, d in s.column_dimensions.items()},
            "validations": [{k: (str(getattr(v, k)) if k == "ranges" else getattr(v, k)) for k in (
                "ranges", "type", "operator", "formula1", "formula2", "allowBlank", "error", "errorTitle")} for v in s.data_validations.dataValidation],
            "filter": s.auto_filter.ref,
        }
    return out


if __name__ == "__main__":
    make()
    rewrite("looks.xlsx")
    rewrite("pivot.xlsx")
    with open("looks.json", "w") as f:
        json.dump({n: look(n) for n in ("looks.xlsx", "looks-lo.xlsx", "pivot.xlsx", "pivot-lo.xlsx")}, f)
