"""Makes golden.json and the sample files beside it, with Pillow 9.4.0,
scikit-image 0.19.3, numpy 1.24.2 and scipy 1.10.1 (Debian 12):

    cd tasks/osworld/metric/media/picture/testdata && /usr/bin/python3 golden.py

The perceptual hash is computed here from its definition, not by ImageHash.
"""
import json, zlib
import numpy as np
import scipy.fftpack
from PIL import Image, ImageStat
from skimage.metrics import structural_similarity


def sample(x, y, b):
    noise = (((x * 73856093) ^ (y * 19349663) ^ (b * 83492791)) * 1103515245 + 12345) >> 16
    return (((x * 3 + y * 2 + b * 50) & 255) * 3 + (noise & 255)) // 4


def picture(mode, w, h, shade=256):
    bands = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "P": 1}[mode]
    a = np.array([[[sample(x, y, b) * shade // 256 for b in range(bands)] for x in range(w)] for y in range(h)], np.uint8)
    im = Image.frombytes(mode, (w, h), a.tobytes())
    if mode == "P":
        im.putpalette(bytes(sample(i, 7, b) for i in range(256) for b in range(3)))
    return im


def crc(im):
    return zlib.crc32(im.tobytes())


def phash(im):
    p = np.asarray(im.convert("L").resize((32, 32), Image.Resampling.LANCZOS))
    low = scipy.fftpack.dct(scipy.fftpack.dct(p, axis=0), axis=1)[:8, :8]
    return "%016x" % int("".join("01"[int(b)] for b in (low > np.median(low)).flatten()), 2)


def sharpness(im):
    p = np.pad(np.asarray(im.convert("L"), np.float64), 1, mode="reflect")
    return float(np.var(p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * p[1:-1, 1:-1]))


g = {"ssim": [], "resize": [], "phash": [], "stat": [], "files": []}
for mode, w, h, shade in [("L", 40, 30, 200), ("L", 7, 7, 128), ("L", 9, 31, 250), ("RGB", 33, 21, 180), ("RGB", 64, 48, 256)]:
    a, b = np.asarray(picture(mode, w, h)), np.asarray(picture(mode, w, h, shade))
    s = structural_similarity(a, b, channel_axis=2) if mode == "RGB" else structural_similarity(a, b)
    g["ssim"].append({"mode": mode, "w": w, "h": h, "shade": shade, "want": float(s)})
a, b = picture("L", 40, 30), picture("L", 40, 30).transpose(Image.FLIP_LEFT_RIGHT)
g["ssim_mirror"] = float(structural_similarity(np.asarray(a), np.asarray(b)))

for mode in ["L", "LA", "RGB", "RGBA", "P"]:
    for w, h in [(20, 15), (97, 61), (40, 11), (13, 30), (1, 1)]:
        for name, f in [("lanczos", Image.Resampling.LANCZOS), ("bicubic", Image.Resampling.BICUBIC)]:
            r = picture(mode, 40, 30).resize((w, h), f)
            g["resize"].append({"mode": mode, "w": w, "h": h, "filter": name, "crc": crc(r)})

cube = Image.frombytes("RGB", (512, 512), bytes(v for i in range(64 ** 3) for v in ((i % 64) * 4 + 3, (i // 64 % 64) * 4 + 1, (i // 4096) * 4)))
g["cube"] = {"grey": crc(cube.convert("L")), "hsv": [crc(c) for c in cube.convert("HSV").split()]}

flat, across = Image.new("L", (50, 40), 17), Image.frombytes("L", (64, 64), bytes(x * 3 for y in range(64) for x in range(64)))
for name, im in [("flat", flat), ("across", across), ("down", across.transpose(Image.TRANSPOSE)),
                 ("L", picture("L", 100, 80)), ("darker", picture("L", 100, 80, 160)), ("RGB", picture("RGB", 61, 97)), ("P", picture("P", 80, 60))]:
    g["phash"].append({"name": name, "want": phash(im)})
for mode in ["L", "RGB", "RGBA"]:
    im = picture(mode, 40, 30)
    g["stat"].append({"mode": mode, "mean": float(np.mean(ImageStat.Stat(im).mean)), "std": float(np.asarray(im, np.float64).std()), "sharpness": sharpness(im)})


def save(name, im, **how):
    im.save(name, **how)
    r = Image.open(name)
    r.load()
    g["files"].append({"name": name, "mode": r.mode, "w": r.width, "h": r.height, "transparent": r.mode in ("RGBA", "LA") or "transparency" in r.info,
                       "L": crc(r.convert("L")), "RGB": crc(r.convert("RGB")), "RGBA": crc(r.convert("RGBA"))})


rgb, grey, index = picture("RGB", 19, 13), picture("L", 19, 13), picture("P", 19, 13)
save("bilevel.png", grey.convert("1"))
save("grey.png", grey)
save("greyalpha.png", picture("LA", 19, 13))
save("rgb.png", rgb)
save("rgba.png", picture("RGBA", 19, 13))
save("indexed.png", index)
save("indexed-key.png", index, transparency=bytes(range(0, 250, 5)))
save("rgb-key.png", rgb, transparency=rgb.getpixel((3, 4)))
save("grey-key.png", grey, transparency=grey.getpixel((3, 4)))
save("indexed.gif", index)
save("key.gif", index, transparency=index.getpixel((3, 4)))
save("rgb.bmp", rgb)
save("indexed.bmp", index)
save("bilevel.bmp", grey.convert("1"))
save("rgb.tiff", rgb, compression="tiff_lzw")
save("grey.tiff", grey)
save("rgba.tiff", picture("RGBA", 19, 13), compression="tiff_lzw")
save("rgb.webp", rgb, lossless=True)
save("rgba.webp", picture("RGBA", 19, 13), lossless=True, exact=True)

smooth = Image.frombytes("RGB", (37, 29), bytes(v for y in range(29) for x in range(37) for v in (x * 6, 255 - y * 8, (x * 13 + y * 5) & 255)))
g["lossy"] = []
for name, how in [("420.jpeg", {"subsampling": 2}), ("422.jpeg", {"subsampling": 1}), ("444.jpeg", {"subsampling": 0}), ("cmyk.jpeg", {}), ("lossy.webp", {})]:
    (smooth.convert("CMYK") if name == "cmyk.jpeg" else smooth).save(name, quality=85, **how)
    r = Image.open(name).convert("RGB")
    g["lossy"].append({"name": name, "rgb": r.tobytes().hex()})
json.dump(g, open("golden.json", "w"), indent=0)
