"""Trains the sentiment model of appliance/expression: weights/sentiment.bin.

    python3 -m venv venv && venv/bin/pip install numpy scipy scikit-learn vaderSentiment==3.3.2
    venv/bin/pip download --no-binary :all: --no-deps vaderSentiment==3.3.2   # MIT; unpack it, and the archive in it
    venv/bin/python sentiment.py HUTTO TEXT.bin OUT.bin GOLDEN.json

HUTTO is the folder hutto_ICWSM_2014 (Hutto and Gilbert 2014) of additional_resources: 23,703 English tweets and
sentences of film reviews, product reviews and editorials, and a lexicon of 7,517 words, each rated by ten or more people
from -4 to 4. TEXT.bin are the weights of the text model, whose features and labels this model uses. It takes two
minutes on one core.

Documents are divided in two halves by their id; a film review's sentence is a document, because its review is not
known. One half and the lexicon train the model; the other half measures it, beside VADER, whose score is mapped to the
steps by a line fitted to the first half.
"""
import ast
import json
import struct
import sys
from zlib import crc32

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags, hstack, vstack
from scipy.sparse.linalg import lsqr
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

from text import BUCKETS, LABELS, matrix, spoken

KINDS = ("tweets", "amazonReviewSnippets", "movieReviewSnippets", "nytEditorialSnippets")
STEPS = np.arange(-4, 5)
LEXICON = 0.5  # the weight of a word of the lexicon, rated by ten people; a text was rated by fifteen and more
DAMP = 1.0  # of the ridge regressions
FROM_LABELS = 0.05  # the scale of the text model's labels among the features, which have length 1
FOLDS = 5


def lines(path):
    return [l for l in open(path, encoding="utf-8-sig", errors="replace") if l.strip()]


def shares(ratings):
    ratings = np.array(ast.literal_eval(ratings.strip()))
    return np.bincount(ratings + 4, minlength=9) / len(ratings)


def read(folder):
    """Returns the kind, the document, the text and the shares of the nine steps of each text, and the lexicon."""
    rows = []
    for kind in KINDS:
        rated = {}
        for line in lines("%s/%s_anonDataRatings.txt" % (folder, kind)):
            name, _, _, ratings = line.split("\t")
            rated[name.strip()] = shares(ratings)
        for line in lines("%s/%s_GroundTruth.txt" % (folder, kind)):
            name, _, text = line.strip().split("\t", 2)
            for was, now in (("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("''", '"')):
                text = text.replace(was, now)
            rows.append((kind, kind + name.split("_")[0], text, rated[name.strip()]))
    words = [line.split("\t") for line in lines(folder + "/vader_sentiment_lexicon.txt")]
    return rows, [(w[0], shares(w[3])) for w in words]


class Text:
    """The features and labels of the text model."""

    def __init__(self, path):
        data = open(path, "rb").read()
        row = lambda i: np.frombuffer(data[BUCKETS + 4 * LABELS * i :], "<f4", LABELS)
        self.idf = 1 + np.frombuffer(data, np.uint8, BUCKETS) / 20
        self.weights = np.frombuffer(data[BUCKETS + 12 * LABELS :], np.int8).reshape(BUCKETS, LABELS) * row(0)
        self.bias = row(1)

    def matrix(self, texts):
        return matrix(texts, self.idf)[0]

    def labels(self, x):
        return x @ self.weights + self.bias


def ridge(x, y, weight):
    """Returns the weights and the bias of a ridge regression for each column of y."""
    mean = np.average(y, axis=0, weights=weight)
    root = diags(np.sqrt(weight))
    columns = [lsqr(root @ x, root @ (y[:, k] - mean[k]), damp=np.sqrt(DAMP), iter_lim=80)[0] for k in range(y.shape[1])]
    return np.array(columns).T, mean


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def steps_of(scores, y):
    """Fits the logit of each step as a linear function of the two scores: rows of bias and two weights."""
    phi = np.column_stack([np.ones(len(scores)), scores])

    def loss(v):
        w = v.reshape(3, 9)
        p = softmax(phi @ w)
        value = -(y * np.log(p + 1e-12)).sum() / len(y) + 1e-5 * (v**2).sum()
        return value, (phi.T @ ((p - y) / len(y))).ravel() + 2e-5 * v

    return minimize(loss, np.zeros(27), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x.reshape(3, 9)


def main(folder, text_bin, out, golden):
    rows, lexicon = read(folder)
    kinds = np.array([r[0] for r in rows])
    texts = [r[2] for r in rows]
    y = np.array([r[3] for r in rows])
    away = np.array([crc32(r[1].encode()) % 2 == 1 for r in rows])
    fold = np.array([crc32((r[1] + "f").encode()) % FOLDS for r in rows])
    text = Text(text_bin)
    x = text.matrix(texts)
    x_spoken = text.matrix([spoken(t) or "a" for t in texts])  # a text without letters becomes a word
    x_words = text.matrix([w for w, _ in lexicon])
    labels = text.labels(x)
    mean, deviation = labels[~away].mean(0), labels[~away].std(0)
    wide = lambda m: hstack([m, csr_matrix((text.labels(m) - mean) / deviation * FROM_LABELS)]).tocsr()
    # the two scores: the mean rating, and the share of those who rated 0
    aims = lambda shares: np.column_stack([shares @ STEPS, shares[:, 4]])
    y_words = aims(np.array([s for _, s in lexicon]))

    def fit(rows):
        """Returns weights of the buckets alone: those of the labels are linear functions of the buckets too."""
        some = vstack([wide(x[rows]), wide(x_spoken[rows]), wide(x_words)]).tocsr()
        weight = np.concatenate([np.ones(2 * len(rows)), np.full(len(lexicon), LEXICON)])
        w, bias = ridge(some, np.vstack([aims(y[rows]), aims(y[rows]), y_words]), weight)
        by_label = w[BUCKETS:] * FROM_LABELS / deviation[:, None]
        return w[:BUCKETS] + text.weights @ by_label, bias + (text.bias - mean) @ by_label

    known = np.where(~away)[0]
    unseen = np.zeros((len(rows), 2))  # the scores by a model that was trained without the document
    for f in range(FOLDS):
        inside, outside = known[fold[known] != f], known[fold[known] == f]
        w, bias = fit(inside)
        unseen[outside] = x[outside] @ w + bias
        print("fold", f, "of", FOLDS, flush=True)
    steps = steps_of(unseen[known], y[known])
    w, bias = fit(known)
    scale = np.abs(w).max(0) / 127
    quantised = np.round(w / scale).astype(np.int8)
    distribution = lambda m: softmax(np.column_stack([np.ones(m.shape[0]), m @ (quantised * scale) + bias]) @ steps)

    vader = SentimentIntensityAnalyzer()
    compound = np.array([vader.polarity_scores(t)["compound"] for t in texts])
    line = np.polyfit(compound[known], y[known] @ STEPS, 1)
    report("always the mean", np.tile(y[known].mean(0), (away.sum(), 1)) @ STEPS, y[away], kinds[away])
    report("VADER", np.polyval(line, compound[away]), y[away], kinds[away])
    for name, m in (("as written", x[away]), ("as a transcript", x_spoken[away])):
        p = distribution(m)
        report(name, p @ STEPS, y[away], kinds[away])
        print("  cross-entropy %.3f, of the mean %.3f, of the ratings themselves %.3f" % tuple(
            -(y[away] * np.log(np.clip(q, 1e-9, 1))).sum(1).mean() for q in (p, y[known].mean(0), y[away])))
        near = np.abs(p.argmax(1) - y[away].argmax(1))
        print("  the top step is the raters' %.3f, or next to it %.3f" % ((near == 0).mean(), (near <= 1).mean()))
    with open(out, "wb") as f:
        for row in (scale, bias, steps.ravel()):
            f.write(struct.pack("<%df" % len(row), *row))
        f.write(quantised.tobytes())
    samples = ["This is the best day of my life!", "I hate it, it was horrible.", "The train leaves at ten.", "good", ""]
    p = distribution(text.matrix(samples))
    with open(golden, "w") as f:
        json.dump([{"text": t, "steps": [round(float(v), 6) for v in q]} for t, q in zip(samples, p)], f, indent=1)


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1] if np.std(a) > 1e-9 else 0


def report(name, expected, y, kinds):
    true = y @ STEPS
    by_kind = ", ".join("%s %.2f" % (k, correlation(expected[kinds == k], true[kinds == k])) for k in KINDS)
    error = np.abs(expected - true).mean()
    print("%s: mean absolute error %.3f, correlation %.3f: %s" % (name, error, correlation(expected, true), by_kind))


if __name__ == "__main__":
    main(*sys.argv[1:])
