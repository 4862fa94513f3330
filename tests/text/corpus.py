"""A text for tokenizers to learn from: English, German and Chinese, with enough words to choose among."""

from itertools import product

NOUNS = {"cat": "猫", "dog": "狗", "bird": "鸟", "zebra": "斑马", "lion": "狮子"}
VERBS = {"chased": "追", "watched": "看着", "heard": "听见"}
ENGLISH = [f"The {one} {verb} a {other}, then slept." for one, verb, other in product(NOUNS, VERBS, NOUNS)]
CHINESE = [
    f"那只{NOUNS[one]}{VERBS[verb]}一只{NOUNS[other]},然后睡了。" for one, verb, other in product(NOUNS, VERBS, NOUNS)
]
GERMAN = ["Die Straßenbahnhaltestelle ist naß.", "Ein Straßenhund überquert die Straße in 12 Minuten."]
TEXTS = [*ENGLISH, *CHINESE, *GERMAN]

KINDS = ("bpe", "byte-bpe", "unigram", "word", "character")
NOTHING_UNKNOWN = ("bpe", "byte-bpe", "unigram")
