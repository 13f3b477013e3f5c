"""Trains the text model of appliance/expression: weights/text.bin.

    python3 -m venv venv && venv/bin/pip install numpy scipy scikit-learn
    venv/bin/python text.py GOEMOTIONS OUT.bin

GOEMOTIONS is a folder with train.tsv, dev.tsv and test.tsv in the form of
GoEmotions (Demszky et al. 2020, CC BY 4.0): a text, its label numbers separated by
commas, and an id, separated by tabs. It takes a quarter of an hour on one core and
prints the accuracy on test.tsv.
"""
import csv
import re
import struct
import sys

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

LABELS, BUCKETS = 28, 1 << 16
TOKEN = re.compile(r"(?i)[a-z0-9']+|[!?.,;:()\"*]+|[^\sa-z0-9]")


def bucket(feature):
    """The lower 16 bits of the 32-bit FNV-1a hash."""
    h = 2166136261
    for byte in feature.encode():
        h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return h % BUCKETS


def features(text):
    tokens = ["<s>"] + [t.lower() for t in TOKEN.findall(text)] + ["</s>"]
    found = {"w" + t for t in tokens}
    found |= {"b" + " ".join(p) for p in zip(tokens, tokens[1:])}
    found |= {"t" + " ".join(p) for p in zip(tokens, tokens[1:], tokens[2:])}
    for t in tokens:
        word = "<" + t + ">"
        found |= {"c" + word[i : i + n] for n in (3, 4, 5) for i in range(len(word) - n + 1)}
    if text.isupper():
        found.add("ALLCAPS")
    return sorted({bucket(f) for f in found})


def spoken(text):
    """The text as a transcript may have it: in lower case, without punctuation."""
    return re.sub(r"\s+", " ", re.sub(r"[^a-z0-9' ]", " ", text.lower())).strip()


def read(path):
    texts, labels = [], []
    for text, numbers, _ in csv.reader(open(path, encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
        texts.append(text)
        row = np.zeros(LABELS, bool)
        row[[int(n) for n in numbers.split(",")]] = True
        labels.append(row)
    return texts, np.array(labels)


def matrix(texts, idf=None):
    rows = [features(t) for t in texts]
    indptr = np.cumsum([0] + [len(r) for r in rows])
    columns = np.concatenate(rows)
    if idf is None:
        frequency = np.bincount(columns, minlength=BUCKETS)
        idf = np.log((1 + len(rows)) / (1 + frequency)) + 1
        idf = 1 + np.clip(np.round((idf - 1) * 20), 0, 255) / 20  # as it is stored
    values = idf[columns]
    norms = np.sqrt(np.add.reduceat(values**2, indptr[:-1]))
    return csr_matrix((values / np.repeat(norms, np.diff(indptr)), columns, indptr), (len(rows), BUCKETS)), idf


def main(folder, out):
    texts, labels = read(folder + "/train.tsv")
    _, idf = matrix(texts)
    x, _ = matrix(texts + [spoken(t) for t in texts], idf)
    y = np.vstack([labels, labels])
    weights, bias = np.zeros((BUCKETS, LABELS)), np.zeros(LABELS)
    for k in range(LABELS):
        m = LogisticRegression(solver="liblinear", C=5, tol=1e-3).fit(x, y[:, k])
        weights[:, k], bias[k] = m.coef_[0], m.intercept_[0]
        print("label", k, "of", LABELS, flush=True)
    scale = np.abs(weights).max(0) / 127
    quantised = np.round(weights / scale).astype(np.int8)

    def probability(texts):
        return 1 / (1 + np.exp(-(matrix(texts, idf)[0] @ (quantised * scale) + bias)))

    dev_texts, dev = read(folder + "/dev.tsv")
    p = probability(dev_texts)
    steps = np.arange(0.05, 0.95, 0.01)
    thresholds = np.array([steps[np.argmax([f1_score(dev[:, k], p[:, k] > s, zero_division=0) for s in steps])] for k in range(LABELS)])
    test_texts, test = read(folder + "/test.tsv")
    for name, change in (("as written", lambda t: t), ("as a transcript", spoken)):
        found = probability([change(t) for t in test_texts]) > thresholds
        print(name, "macro-F1 %.3f" % f1_score(test, found, average="macro", zero_division=0), "micro-F1 %.3f" % f1_score(test, found, average="micro", zero_division=0))
    with open(out, "wb") as f:
        f.write(np.round((idf - 1) * 20).astype(np.uint8).tobytes())
        for row in (scale, bias, thresholds):
            f.write(struct.pack("<%df" % LABELS, *row))
        f.write(quantised.tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
