"""Trains the model that tells speakers apart, weights/speakers.json of appliance/analysis.

    python3 -m venv venv && venv/bin/pip install numpy scikit-learn
    venv/bin/python speakers.py FOLDER OUT.json

FOLDER has KIND/PERSON/SERIES/*.wav: utterances of 1.5 to 8 seconds. A series is what one
person said into one microphone on one day. People are compared with those of their kind
only, because kinds differ in more than voices: real or synthetic, telephone or not.

The shipped weights are from three kinds.
- 3 readers of telephone prompts: Debian's asterisk-core-sounds-fr-wav (June) and -it-wav
  (Carlo), and asterisk-prompt-es-co.
- 10 readers of a game, in Debian's ktuberling-data: ca de en es ga gl nds pt ru wa. A
  language is a person, and a series is what has the same beginning of its name (egypt_).
  Words of one series were joined until they took 1.6 to 3 seconds.
- 22 synthetic voices of this project, ten sentences each.

How much a voice varies within a series comes from the real people by 70 %: synthetic voices
vary less. Each recording is used as it is, and with pink noise at 20 dB in the band of a telephone.
"""
import glob
import json
import os
import sys
from collections import defaultdict

import numpy as np

import features
from voice import pink

# The order of expression.Timbre.
NAMES = [f"c{k}V_mean" for k in range(1, 13)] + [f"c{k}V_std" for k in range(1, 13)]
NAMES += ["f0_p20", "f0_p50", "f0_p80", "f0_std", "h12_mean", "hnr_mean"]
REAL_SHARE = 0.7
# Shrink the covariances to their diagonals: there are few people.
SHRINK_WITHIN, ADD_BETWEEN = 0.2, 0.05
# Chosen on the people of the training set, in three parts, each measured with the model of
# the other two; see speakers.go.
MERGE, SHARED, USUAL = -2, 0.3, 1


def degraded(x, rng):
    """The loud parts at a common level, pink noise 20 dB below them, and 250 to 3,400 Hz with
    the slopes of a Butterworth filter of fourth order, in 16 bits."""
    loud = x[np.abs(x) > np.abs(x).max() / 20]
    x, noise = 0.08 * x / np.sqrt((loud**2).mean() + 1e-12), pink(len(x), rng)
    x = x + 0.008 * noise / np.sqrt((noise**2).mean())
    warped = lambda hz: np.tan(np.pi * hz / features.SR)  # as the bilinear transform does
    hz = np.clip(np.fft.rfftfreq(len(x), 1 / features.SR), 1, features.SR / 2 - 1)
    gain = 1 / np.sqrt((1 + (warped(250) / warped(hz)) ** 8) * (1 + (warped(hz) / warped(3400)) ** 8))
    y = np.fft.irfft(np.fft.rfft(x) * gain, len(x))
    return np.round(np.clip(y, -1, 1) * 32767) / 32768


def read(folder):
    """Returns {kind: {person: {series: utterances × features}}}."""
    rng = np.random.default_rng(1)
    found = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for path in sorted(glob.glob(folder + "/*/*/*/*.wav")):
        kind, person, series = path.split("/")[-4:-1]
        x = features.read(path)
        for copy, y in (("", x), ("#", degraded(x, rng))):
            f = features.feats(y)
            found[kind][person][series + copy].append([f[k] for k in NAMES])
    return {k: {p: {s: np.array(u) for s, u in series.items() if len(u) >= 3} for p, series in people.items()}
            for k, people in found.items()}


def within(people):
    series = [u - u.mean(0) for s in people.values() for u in s.values()]
    return sum(u.T @ u for u in series) / sum(len(u) - 1 for u in series)


def main(folder, out):
    kinds = read(folder)
    real = {f"{k}/{p}": s for k, people in kinds.items() if k != "synthetic" for p, s in people.items()}
    W = REAL_SHARE * within(real) + (1 - REAL_SHARE) * within(kinds["synthetic"])
    W = (1 - SHRINK_WITHIN) * W + SHRINK_WITHIN * np.diag(np.diag(W))
    means = [np.array([np.mean([u.mean(0) for u in s.values()], 0) for s in people.values() if s])
             for people in kinds.values()]
    B = sum((m - m.mean(0)).T @ (m - m.mean(0)) for m in means) / sum(len(m) - 1 for m in means)
    B += ADD_BETWEEN * np.diag(np.diag(B))
    # Both become diagonal, and W the unit matrix.
    root = np.linalg.inv(np.linalg.cholesky(W))
    between, axes = np.linalg.eigh(root @ B @ root.T)
    whiten = (axes.T @ root)[::-1]
    print({k: len(p) for k, p in kinds.items()}, "between:", np.round(between[::-1], 2))
    significant = lambda a: [float("%.5g" % v) for v in a]
    model = {"mean": significant(np.concatenate(means).mean(0)), "whiten": [significant(r) for r in whiten],
             "between": significant(between[::-1]), "shared": SHARED, "usual": USUAL, "merge": MERGE}
    json.dump(model, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
