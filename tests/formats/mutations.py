"""Ways to break a robot file, at random but the same each time."""

from __future__ import annotations

import re
from random import Random

TAG = re.compile(r"<[^>]*>")
ATTRIBUTE = re.compile(r'\s[\w:]+="[^"]*"')
VALUE = re.compile(r'"[^"]*"')
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e-?\d+)?(?![\w.])")
BLOCK = re.compile(r"<(link|joint|inertial)\b[^>]*>.*?</\1>", re.DOTALL)
NUMBERS = ["nan", "-inf", "1e400", "-1e400", "-1", "0", "", " ", "1e308", "1e155", "1e-320", "1e200", "1,5", "0x1p3"]
NUMBERS += ["1_0", "1e9", "--1", "1 2", "${pi}", "７", "9" * 500, "2.5", "-0.75", "1.5707963267948966"]
WORDS = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "base", "", "world", "é", "<", "&amp;"]


def span(random: Random, pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    """Return where a random match of the pattern is; an empty place where there is none."""
    found = [match.span() for match in pattern.finditer(text)]
    return random.choice(found) if found else (0, 0)


def replace(pattern: re.Pattern[str], new: list[str] | None):
    """Return a mutation that puts one of these in the place of a match (None: nothing at all)."""

    def mutate(random: Random, text: str) -> str:
        a, b = span(random, pattern, text)
        quotes = pattern is VALUE and a != b
        put = random.choice(new) if new else ""
        return text[:a] + (f'"{put}"' if quotes else put) + text[b:]

    return mutate


def duplicate(pattern: re.Pattern[str]):
    """Return a mutation that repeats a match, there or in the place of another."""

    def mutate(random: Random, text: str) -> str:
        a, b = span(random, pattern, text)
        c, d = span(random, pattern, text)
        return text[:b] + text[a:b] + text[b:] if random.random() < 0.5 else text[:c] + text[a:b] + text[d:]

    return mutate


def swap(pattern: re.Pattern[str]):
    """Return a mutation that exchanges two matches."""

    def mutate(random: Random, text: str) -> str:
        (a, b), (c, d) = sorted([span(random, pattern, text), span(random, pattern, text)])
        return text if b > c else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]

    return mutate


def flip_bytes(random: Random, text: str) -> str:
    """Change up to four bits."""
    data = bytearray(text, "utf-8", "surrogateescape")
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return data.decode("utf-8", "surrogateescape")


def truncate(random: Random, text: str) -> str:
    """Cut the end off."""
    return text[: random.randrange(len(text))]


def scale_numbers(random: Random, text: str) -> str:
    """Give every number other digits: the file stays good, and each number counts."""
    return NUMBER.sub(lambda m: repr(float(m[0]) * random.choice([1, 2, 0.3]) + random.choice([0, 0.01])), text)


MUTATIONS = (
    replace(NUMBER, NUMBERS),
    replace(VALUE, NUMBERS),
    replace(VALUE, WORDS),
    replace(TAG, None),
    replace(ATTRIBUTE, None),
    replace(BLOCK, None),
    duplicate(TAG),
    duplicate(ATTRIBUTE),
    duplicate(BLOCK),
    duplicate(VALUE),
    swap(TAG),
    swap(VALUE),
    swap(BLOCK),
    swap(NUMBER),
    flip_bytes,
    truncate,
    scale_numbers,
)


def mutant(text: str, seed: int) -> bytes:
    """Return a broken copy of a file: one to three mutations, the first of each kind in turn."""
    random = Random(seed)
    text = MUTATIONS[seed % len(MUTATIONS)](random, text)
    for _ in range(random.choice([0, 0, 1, 2])):
        text = random.choice(MUTATIONS)(random, text or " ")
    return text.encode("utf-8", "surrogateescape")
