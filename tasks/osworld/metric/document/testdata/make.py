"""Makes the documents of this folder and golden.json, what python-docx, Pillow,
scikit-image and Levenshtein say about them. With Debian's python3-docx,
python3-pil, python3-skimage, python3-levenshtein and libreoffice-writer:

    cd tasks/osworld/metric/document/testdata && /usr/bin/python3 make.py
"""
import io
import itertools
import json
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree as ET
import zipfile

import Levenshtein
import numpy as np
from docx import Document
from docx.enum.section import WD_SECTION
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_BREAK, WD_COLOR_INDEX, WD_LINE_SPACING, WD_TAB_ALIGNMENT
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from PIL import Image
from skimage.color import deltaE_ciede2000, rgb2lab

ITEMS = ["A. Writer. On writing. 2020.", "B. Other. A study of studies, vol. 3.", "C. Third. Références.", "D. Last."]


def picture(kind):
    pixels = np.zeros((6, 8, 3), np.uint8)
    pixels[:, :, 0] = np.arange(8) * 30
    pixels[2:4, 3:5] = (10, 200, 30 if kind == "gold" else 31)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG", compress_level=9 if kind == "gold" else 1)
    data.seek(0)
    return data


def first_section(doc, other):
    p = doc.add_paragraph()
    p.alignment = WD_ALIGN_PARAGRAPH.CENTER
    for text in ("A heading ", "in two runs"):
        p.add_run(text).font.name = "Times New Roman"
    spacings = [("single", 1.0), ("double", 2.0), ("one and a half", 1.5), ("odd", 1.15), ("exact", Pt(18))]
    for name, spacing in spacings:
        p = doc.add_paragraph(name + " spacing")
        p.paragraph_format.line_spacing = spacing
        if name == "exact" and other:
            p.paragraph_format.line_spacing = Pt(19)
    p = doc.add_paragraph("at least")
    p.paragraph_format.line_spacing_rule = WD_LINE_SPACING.AT_LEAST
    p.paragraph_format.line_spacing = Pt(20)
    p = doc.add_paragraph("H")
    p.add_run("2").font.subscript = True
    p.add_run("O and x")
    p.add_run("2").font.superscript = True
    p = doc.add_paragraph()
    for text, italic, size in (("italic 14", True, 14), (" not italic ", None, None), ("switched off", False, 12), (" halves", True, 14 if not other else 10.5)):
        r = p.add_run(text)
        r.italic = italic
        r.font.size = size and Pt(size)
    p = doc.add_paragraph("one two three\tright\tcentre")
    stops = p.paragraph_format.tab_stops
    stops.add_tab_stop(Cm(6 if not other else 6.5), WD_TAB_ALIGNMENT.CENTER)
    stops.add_tab_stop(Cm(12), WD_TAB_ALIGNMENT.RIGHT)
    p.paragraph_format.tab_stops.add_tab_stop(Cm(3), WD_TAB_ALIGNMENT.CLEAR)
    p = doc.add_paragraph("before")
    p.add_run().add_break()
    p.add_run("after a line break  and  blanks ÄÖÜ 日本")
    p = doc.add_paragraph("a page break ")
    p.add_run().add_break(WD_BREAK.PAGE)
    p = doc.add_paragraph()
    p.add_run("yellow").font.highlight_color = WD_COLOR_INDEX.YELLOW
    p.add_run(" and plain")
    doc.add_paragraph()


def colored_table(doc, other):
    table = doc.add_table(3, 3)
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 2).merge(table.cell(2, 2))
    words = [["apple"], ["tree"], ["is"], ["be"], ["under"], ["cat", "egg"], ["dog"]]
    places = [(0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
    for (row, column), cell_words in zip(places, words):
        p = table.cell(row, column).paragraphs[0]
        for i, word in enumerate(cell_words):
            if i:
                p = table.cell(row, column).add_paragraph()
            red, blue = RGBColor(250 if other else 255, 0, 0), RGBColor(0, 0, 255)
            p.add_run(word).font.color.rgb = red if word[0] in "aeiou" else blue


def make(name, other=False):
    doc = Document()
    doc.sections[0].footer.paragraphs[0].text = "Page 1" if not other else "Page"
    first_section(doc, other)
    colored_table(doc, other)
    doc.add_paragraph().add_run().add_picture(picture("other" if other else "gold"))
    doc.add_section(WD_SECTION.NEW_PAGE)  # its footer is linked to the first one's
    last = doc.add_section(WD_SECTION.CONTINUOUS)
    last.footer.is_linked_to_previous = False
    last.footer.paragraphs[0].text = "sheet 3"
    doc.add_paragraph("References")
    for i, item in enumerate(ITEMS):
        doc.add_paragraph(item if not other else item.replace("t", "") + "x" * i)
    p = doc.add_paragraph()
    p.add_run("struck ").font.strike = True
    p.add_run("through").font.strike = None if other else True
    doc.save(name)
    slim(name)


def slim(name):
    """Leaves out what Word's template has and nobody reads."""
    with zipfile.ZipFile(name) as z:
        parts = {i.filename: z.read(i) for i in z.infolist()}
    for part in list(parts):
        if re.search(r"thumbnail|stylesWithEffects|customXml|theme|fontTable|webSettings|app.xml|numbering", part):
            del parts[part]
    for part in parts:
        if part.endswith((".rels", "[Content_Types].xml")):
            parts[part] = re.sub(rb'<(Relationship|Override) [^>]*(thumbnail|stylesWithEffects|customXml|theme|fontTable|webSettings|app\.xml|numbering)[^>]*?/>', b"", parts[part])
    styles = parts["word/styles.xml"]
    styles = re.sub(rb"(?s)<w:latentStyles.*?</w:latentStyles>", b"", styles)
    keep = rb'"(Normal|DefaultParagraphFont|TableNormal|NoList|Footer|Header)"'
    parts["word/styles.xml"] = re.sub(rb"(?s)<w:style .*?</w:style>", lambda m: m[0] if re.search(b"styleId=" + keep, m[0]) else b"", styles)
    with zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for part, data in parts.items():
            z.writestr(zipfile.ZipInfo(part), data, zipfile.ZIP_DEFLATED)


def convert(source, extension, target):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run(["soffice", "-env:UserInstallation=file://" + out + "/profile", "--headless", "--convert-to", extension, "--outdir", out, source], check=True)
        stem = os.path.splitext(os.path.basename(source))[0]
        with zipfile.ZipFile(f"{out}/{stem}.{extension}") as z:
            parts = {i.filename: z.read(i) for i in z.infolist()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        for part, data in parts.items():
            if not part.startswith(("Thumbnails", "Configurations2", "settings.xml", "manifest.rdf", "word/theme")):
                z.writestr(zipfile.ZipInfo(part), data, zipfile.ZIP_DEFLATED)


def text(p):
    """The text as python-docx 1.x has it, which leaves page breaks out."""
    t = p.text
    for r in p.runs:
        if any(b.type == "page" for b in r._r.br_lst):
            t = t.replace("\n", "", 1)
    return t


def member(value):
    return "" if value is None else str(value).split()[0].lower()


def dump(name):
    doc = Document(name)
    paragraphs = []
    for p in doc.paragraphs:
        f = p.paragraph_format
        runs = []
        for r in p.runs:
            color = r.font.color.rgb
            runs.append({
                "text": r.text.replace("\n", "") if any(b.type == "page" for b in r._r.br_lst) else r.text,
                "font": r.font.name or "", "points": r.font.size.pt if r.font.size else 0, "italic": bool(r.italic),
                "strike": bool(r.font.strike), "subscript": bool(r.font.subscript), "color": str(color) if color else "",
            })
        spacing = f.line_spacing
        paragraphs.append({
            "text": text(p), "runs": runs,
            "alignment": member(f.alignment),
            "lines": spacing if isinstance(spacing, float) else 0, "length": spacing if isinstance(spacing, int) else 0,
            "tabs": [[member(t.alignment), t.position] for t in f.tab_stops],
        })
    return {
        "paragraphs": paragraphs,
        "tables": [[[c.text for c in row.cells] for row in t.rows] for t in doc.tables],
        "sections": [[s.page_width, s.left_margin, s.right_margin, s.footer.paragraphs[0].text if s.footer.paragraphs else ""] for s in doc.sections],
        "images": [r.target_part.partname.lstrip("/") for r in doc.part.rels.values() if "image" in r.reltype],
    }


def squeeze(doc):
    return " ".join("\n".join(text(p) for p in doc.paragraphs).split())


def references(a, b, base):
    lists = []
    for doc in (a, b):
        texts = [text(p) for p in doc.paragraphs]
        lists.append([t for t in texts[texts.index("References") + 1:] if t.strip()])
    mean = sum(Levenshtein.ratio(x, y) for x, y in zip(*lists)) / len(lists[0])
    return (mean - base) / (1 - base) if mean >= base + 0.01 else 0


def tabs(a, b):
    paras = [[p for p in d.paragraphs if text(p).strip()] for d in (a, b)]
    s = b.sections[0]
    width, total = s.page_width - s.left_margin - s.right_margin, 0
    for p, q in zip(*paras):
        stops = [[t for t in x.paragraph_format.tab_stops if t.alignment != WD_TAB_ALIGNMENT.CLEAR and (t.alignment != WD_TAB_ALIGNMENT.LEFT or t.position)] for x in (p, q)]
        if [t.alignment for t in stops[0]] != [t.alignment for t in stops[1]]:
            return 0
        total += sum(abs(t.position - u.position) for t, u in zip(*stops)) / width
    return 1 - total / len(paras[0]) if len(paras[0]) == len(paras[1]) else 0


def verdicts(a, b):
    a, b = Document(a), Document(b)
    spacing = [[p.paragraph_format.line_spacing for p in d.paragraphs] for d in (a, b)]
    cells = [[[[c.text.strip() for c in r.cells] for r in t.rows] for t in d.tables] for d in (a, b)]
    pixels = [[Image.open(io.BytesIO(r.target_part.blob)).tobytes() for r in d.part.rels.values() if "image" in r.reltype] for d in (a, b)]
    same = squeeze(a) == squeeze(b)
    ratio = Levenshtein.ratio(squeeze(a), squeeze(b))
    return {
        "compare_docx_files": float(same), "content_only": ratio,
        "compare_line_spacing": float(same and spacing[0] == spacing[1]),
        "compare_docx_tables": float(cells[0] == cells[1]),
        "compare_docx_images": float(pixels[0] == pixels[1]),
        "check_tabstops": tabs(a, b), "compare_references": references(a, b, 0.6),
        "has_page_numbers_in_footers": float(all(any(c.isdigit() for c in s.footer.paragraphs[0].text) for s in a.sections)),
        "contains_page_break": float(any(e.get(qn("w:type")) == "page" for p in a.paragraphs for e in p._p.iter(qn("w:br")))),
        "is_first_line_centered": float(a.paragraphs[0].paragraph_format.alignment == WD_ALIGN_PARAGRAPH.CENTER),
    }


def odt_texts(name):
    """The text:p of a document as odfpy lists them: the text in them and in their spans."""
    t = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
    office = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
    out = []
    with zipfile.ZipFile(name) as z:
        roots = [ET.fromstring(z.read("styles.xml")).find(office + "master-styles"), ET.fromstring(z.read("content.xml")).find(office + "body")]
    for p in itertools.chain(*(r.iter(t + "p") for r in roots)):
        s = p.text or ""
        for c in p:
            if c.tag == t + "span":
                s += (c.text or "") + "".join(g.tail or "" for g in c)
            s += c.tail or ""
        out.append(s)
    return out


def main():
    make("gold.docx")
    make("other.docx", other=True)
    convert("gold.docx", "odt", "gold.odt")
    convert("gold.odt", "docx", "office.docx")
    names = ["gold.docx", "other.docx", "office.docx"]
    rgb = np.array([[a, b] for a, b in itertools.product(
        [(255, 0, 0), (0, 0, 255), (250, 5, 3), (0, 0, 0), (255, 255, 255), (128, 128, 128), (12, 200, 90), (1, 1, 2)], repeat=2)], float)
    lab = rgb2lab(rgb / 255)
    colors = [[p[0], p[1], d] for p, d in zip(rgb.astype(int).tolist(), deltaE_ciede2000(lab[:, 0], lab[:, 1]).tolist())]
    golden = {
        "documents": {n: dump(n) for n in names},
        "verdicts": {a + " " + b: verdicts(a, b) for a in names for b in names},
        "odt": odt_texts("gold.odt"),
        "colors": colors,
    }
    with open("golden.json", "w") as f:
        json.dump(golden, f, ensure_ascii=False, separators=(",", ":"), default=int)


main()
