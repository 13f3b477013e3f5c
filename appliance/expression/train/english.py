"""Makes the list of common English words of appliance/expression: weights/english.txt.

    python3 english.py GOEMOTIONS OUT.txt

GOEMOTIONS is as for text.py. A word is common if train.tsv has it at least five times in lower case, and in at least
two of three places where it begins no sentence. What is left out are names, and words of other languages.
"""
import collections
import csv
import re
import sys

WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?")


def main(folder, out):
    small, all = collections.Counter(), collections.Counter()
    for text, *_ in csv.reader(open(folder + "/train.tsv", encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
        if text.isupper():
            continue
        for m in WORD.finditer(text):
            before = text[: m.start()].rstrip()
            word = m.group().replace("’", "'")
            if before and before[-1] not in ".!?:\"“*([>-…":
                all[word.lower()] += 1
                small[word.lower()] += word.islower()
    words = {w for w, n in small.items() if n >= 5 and 3 * n >= 2 * all[w]}
    words = sorted(words | {"i", "i'd", "i'll", "i'm", "i've"})  # capitals without being names
    with open(out, "w") as f:
        f.write("\n".join(words) + "\n")
    print(len(words), "words")


if __name__ == "__main__":
    main(*sys.argv[1:])
