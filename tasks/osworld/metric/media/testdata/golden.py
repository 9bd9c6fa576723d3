"""Makes golden.json with numpy 1.24.2 and scipy 1.10.1 (Debian 12):

    cd tasks/osworld/metric/media/testdata && /usr/bin/python3 golden.py

librosa and fastdtw are not packaged there. This computes what their
documentation defines, in another way than the Go code does it: by dense
matrices, scipy's transforms and windows, and sets of cells.
"""
import json
import numpy as np
import scipy.fft
import scipy.signal
from scipy.spatial.distance import cosine

SR = 22050


def tune(seconds, shift, level):
    n = np.arange(int(SR * seconds))
    t = n / SR
    return level * (np.sin(2 * np.pi * (300 + shift + 200 * t) * t) + 0.5 * np.sin(2 * np.pi * 1700 * t) * (n % 5512 < 2205))


def hz_to_mel(f):
    f = np.asanyarray(f, float)
    return np.where(f >= 1000, 15 + np.log(np.maximum(f, 1) / 1000) / (np.log(6.4) / 27), f * 3 / 200)


def mel_to_hz(m):
    return np.where(m >= 15, 1000 * np.exp((np.log(6.4) / 27) * (m - 15)), m * 200 / 3)


def mel_filters():
    fft_hz = np.linspace(0, SR / 2, 1025)
    mel_hz = mel_to_hz(np.linspace(0, hz_to_mel(SR / 2), 130))
    ramps = mel_hz[:, None] - fft_hz[None, :]
    diff = np.diff(mel_hz)
    weights = np.maximum(0, np.minimum(-ramps[:-2] / diff[:-1, None], ramps[2:] / diff[1:, None]))
    return weights * (2 / (mel_hz[2:] - mel_hz[:-2]))[:, None]


def mfcc(y):
    y = np.pad(y, 1024)
    frames = np.lib.stride_tricks.sliding_window_view(y, 2048)[::512]
    power = np.abs(scipy.fft.rfft(frames * scipy.signal.get_window("hann", 2048), axis=1)) ** 2
    db = 10 * np.log10(np.maximum(1e-10, mel_filters() @ power.T))
    db = np.maximum(db, db.max() - 80)
    return scipy.fft.dct(db, axis=0, type=2, norm="ortho")[:20]


def normalize(m):
    return m / np.abs(m).max(axis=1, keepdims=True)


def dtw(x, y, window):
    inf = (float("inf"), 0, 0)
    cost = {(0, 0): (0.0, 0, 0)}
    for i, j in window:
        i, j = i + 1, j + 1
        up, left, corner = cost.get((i - 1, j), inf)[0], cost.get((i, j - 1), inf)[0], cost.get((i - 1, j - 1), inf)[0]
        d = cosine(x[i - 1], y[j - 1])
        if up < left and up < corner:
            cost[i, j] = (up + d, i - 1, j)
        elif left < corner:
            cost[i, j] = (left + d, i, j - 1)
        else:
            cost[i, j] = (corner + d, i - 1, j - 1)
    path, at = [], (len(x), len(y))
    while at != (0, 0):
        path.append((at[0] - 1, at[1] - 1))
        at = cost[at][1:]
    return cost[len(x), len(y)][0], path[::-1]


def fastdtw(x, y, radius=1):
    if len(x) < radius + 2 or len(y) < radius + 2:
        return dtw(x, y, [(i, j) for i in range(len(x)) for j in range(len(y))])
    halves = [[(v[i] + v[i + 1]) / 2 for i in range(0, len(v) - len(v) % 2, 2)] for v in (x, y)]
    _, path = fastdtw(*halves, radius)
    near = {(i + a, j + b) for i, j in path for a in range(-radius, radius + 1) for b in range(-radius, radius + 1)}
    window = {(2 * i + a, 2 * j + b) for i, j in near for a in (0, 1) for b in (0, 1)}
    return dtw(x, y, sorted((i, j) for i, j in window if 0 <= i < len(x) and 0 <= j < len(y)))


g = {"mfcc": [[float(v) for v in mfcc(tune(1.3, 0, 0.4))[:, f]] for f in (0, 1, 17, 40, 55)], "pairs": []}
for a, b in [((1.3, 0, 0.4), (1.3, 40, 0.4)), ((1.3, 0, 0.4), (1.3, 0, 0.1)), ((1.3, 0, 0.4), (2.1, 300, 0.3)), ((0.01, 0, 0.4), (1.0, 0, 0.4))]:
    distance, path = fastdtw(normalize(mfcc(tune(*a))).T, normalize(mfcc(tune(*b))).T)
    g["pairs"].append({"a": a, "b": b, "distance": distance, "length": len(path)})
json.dump(g, open("golden.json", "w"), indent=0)
