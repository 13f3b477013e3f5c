"""Trains the voice model of appliance/expression, weights/voice.json, and
writes held.npz for blend.py, which fits voiceShare in blend.go.

    python3 -m venv venv && venv/bin/pip install numpy scikit-learn
    venv/bin/python voice.py EMODB OUT.json

EMODB is a folder with the wav files of the Berlin Database of Emotional Speech
(Burkhardt et al. 2005, CC0): the first two digits of a name are the speaker, its
sixth letter the emotion. The features are those of features.py, with which
the tests of features.go were made too. It takes five minutes on one core and prints
the accuracy on speakers that the model was not trained on.
"""
import glob
import json
import os
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score

import features

CLASSES = ["anger", "boredom", "disgust", "fear", "happiness", "sadness", "neutral"]
LETTERS = "WLEAFTN"
CLIP = 5
# Gain and length say nothing about feelings.
LEFT_OUT = {"loud_mean", "dur"}


def pink(n, rng):
    spectrum = np.fft.rfft(rng.standard_normal(n))
    return np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 1)), n)


def noisy(x, rng, db=20):
    noise = pink(len(x), rng)
    return x + noise * np.sqrt((x**2).mean() / (noise**2).mean() / 10 ** (db / 10))


def telephone(x):
    """300 to 3,400 Hz, and the steps of 8 bits, µ-law."""
    spectrum, hz = np.fft.rfft(x), np.fft.rfftfreq(len(x), 1 / features.SR)
    spectrum[(hz < 300) | (hz > 3400)] = 0
    y = np.fft.irfft(spectrum, len(x))
    peak = np.abs(y).max() + 1e-9
    coded = np.round(127 * np.sign(y) * np.log1p(255 * np.abs(y) / peak) / np.log(256)) / 127
    return np.sign(coded) * (256 ** np.abs(coded) - 1) / 255 * peak


def measure(folder):
    rng = np.random.default_rng(1)
    rows, speakers, classes = [], [], []
    for path in sorted(glob.glob(folder + "/*.wav")):
        name = os.path.basename(path)
        x = features.read(path)
        rows.append([features.feats(y) for y in (x, noisy(x, rng), telephone(x))])
        speakers.append(name[:2])
        classes.append(LETTERS.index(name[5]))
    names = [k for k in rows[0][0] if k not in LEFT_OUT]
    values = np.array([[[r[k] for k in names] for r in copies] for copies in rows])
    return values, np.array(speakers), np.array(classes), names


def fit(values, classes):
    """values: recordings × copies × features."""
    flat = values.reshape(-1, values.shape[-1])
    mean, std = values[:, 0].mean(0), values[:, 0].std(0) + 1e-9
    model = LogisticRegression(C=0.05, class_weight="balanced", max_iter=5000)
    model.fit(np.clip((flat - mean) / std, -CLIP, CLIP), np.repeat(classes, values.shape[1]))
    return mean, std, model


def main(folder, out):
    values, speakers, classes, names = measure(folder)
    np.savez("voice.npz", values=values, speakers=speakers, classes=classes, names=names)
    held = np.zeros((len(classes), 3, len(CLASSES)))
    for speaker in sorted(set(speakers)):
        mean, std, model = fit(values[speakers != speaker], classes[speakers != speaker])
        at = speakers == speaker
        for copy in range(3):
            held[at, copy] = model.predict_proba(np.clip((values[at, copy] - mean) / std, -CLIP, CLIP))
    for copy, name in enumerate(("clean", "pink noise at 20 dB", "telephone band")):
        print(name, "unweighted recall %.3f" % recall_score(classes, held[:, copy].argmax(1), average="macro"))
    np.savez("held.npz", probabilities=held, classes=classes)
    mean, std, model = fit(values, classes)
    significant = lambda a: [float("%.5g" % v) for v in a]
    json.dump({"classes": CLASSES, "features": names, "mean": significant(mean), "std": significant(std),
               "intercept": significant(model.intercept_), "coef": [significant(r) for r in model.coef_]}, open(out, "w"))


if __name__ == "__main__":
    main(*sys.argv[1:])
