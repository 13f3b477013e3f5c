"""Fits voiceShare in blend.go: the voice's share of a score that both voice and words have.
There are no recordings with labels for both, so pairs are made: a recording from
voice.py's held.npz, of a speaker that the model was not trained on, through the band of
a telephone; and a text of GoEmotions' dev.tsv, which half of the time has a label of the
same feeling and half of the time is neutral, like most speech. It prints the loss, and
how often the true name is the highest of EmoDB's seven.

    venv/bin/python blend.py GOEMOTIONS ../weights/text.bin ../weights/mapping.json held.npz
"""
import json
import struct
import sys

import numpy as np

import text

NAMES = ["Anger", "Boredom", "Disgust", "Fear", "Joy", "Sadness", "Calmness"]
LIKE = {0: ["anger", "annoyance"], 2: ["disgust"], 3: ["fear", "nervousness"], 4: ["joy", "excitement", "amusement"], 5: ["sadness", "grief", "disappointment"]}
LABELS = """admiration amusement anger annoyance approval caring confusion curiosity desire disappointment disapproval disgust embarrassment
excitement fear gratitude grief joy love nervousness optimism pride realization relief remorse sadness surprise neutral""".split()
PRIOR = np.array([0.08, 0.08, 0.05, 0.08, 0.17, 0.10, 0.44])
CLASSES = ["anger", "boredom", "disgust", "fear", "happiness", "sadness", "neutral"]


def load(path):
    data = open(path, "rb").read()
    n = text.LABELS
    idf = 1 + np.frombuffer(data, np.uint8, text.BUCKETS) / 20
    scale, bias, _ = (np.array(struct.unpack_from("<%df" % n, data, text.BUCKETS + 4 * n * i)) for i in range(3))
    weights = np.frombuffer(data, np.int8, offset=text.BUCKETS + 12 * n).reshape(-1, n) * scale
    return lambda texts: 1 / (1 + np.exp(-(text.matrix(texts, idf)[0] @ weights + bias)))


def mapped(terms, p, names, floor):
    columns = {name: p[:, i] for i, name in enumerate(names)}
    out = np.full(len(p), floor)
    for weight, of in terms:
        out = np.maximum(out, weight * np.prod([columns[o] for o in of], axis=0) ** (1 / len(of)))
    return out


def main(folder, weights, mapping, held):
    mapping, rng = json.load(open(mapping)), np.random.default_rng(1)
    texts, labels = text.read(folder + "/dev.tsv")
    words = load(weights)([text.spoken(t) for t in texts])
    words = np.array([mapped(mapping["words"][n], words, LABELS, 0.004) for n in NAMES]).T
    held = np.load(held)
    logits = np.log(held["probabilities"][:, 2] + 1e-12) / 1.2
    voice = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    voice = 0.85 * voice + 0.15 * PRIOR
    voice = np.array([mapped(mapping["voice"][n], voice, CLASSES, 0.005) for n in NAMES]).T
    alone = labels.sum(1) == 1
    pools = {c: np.where(alone & labels[:, [LABELS.index(l) for l in like]].any(1))[0] for c, like in LIKE.items()}
    neutral = np.where(alone & labels[:, -1])[0]
    pairs = []
    for same in (True, False):
        for _ in range(20):
            for i, c in enumerate(held["classes"]):
                pairs.append((i, rng.choice(pools.get(c, neutral) if same else neutral), c, same))
    v, w, c, same = (np.array(x) for x in zip(*pairs))
    for share in np.arange(0, 1.01, 0.1):
        s = share * voice[v] + (1 - share) * words[w]
        p = s / s.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(len(c)), c])
        right = s.argmax(1) == c
        recall = lambda at: np.mean([right[at & (c == k)].mean() for k in range(7)])
        print("voice %.1f: unweighted recall %.3f (words agree %.3f, words are neutral %.3f), loss %.3f" % (share, recall(c >= 0), recall(same), recall(~same), loss.mean()))
    # A score that a neutral sentence in a neutral voice reaches does not stand out.
    calm = np.where(held["classes"] == 6)[0]
    s = 0.5 * voice[rng.choice(calm, 4000)] + 0.5 * words[rng.choice(neutral, 4000)]
    for k, n in enumerate(NAMES):
        print(n, "of plain words in a plain voice: 95 %% under %.3f, 99 %% under %.3f" % tuple(np.percentile(s[:, k], [95, 99])))


if __name__ == "__main__":
    main(*sys.argv[1:])
