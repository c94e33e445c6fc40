"""A long module cut into several, so that no call of the code generator takes long: Ctrl-C is handled between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

PIECE_CHARACTERS = 300_000
"""Most characters of IR in one piece, or one function more: some 3,500 operations.

The code generator takes 0.1 s for ordinary code, 0.6 s for the slowest known, where every operation stores."""

_END = "\n}\n"
_MOVABLE = re.compile(r"define internal (?P<signature>[^\n]*(?P<name>@[\w.]+)\([^\n]*\) #0) \{")
_NAMED = re.compile(r"^(?:declare [^\n@]*)?(?P<name>@[\w.]+)[^\n]*\n", re.MULTILINE)
_USED = re.compile(r"@[\w.]+")


def pieces(ir: str, size: int = PIECE_CHARACTERS) -> Iterator[str]:
    r"""Yield modules that are together the module in `ir`; the first has its entry points and variables.

    The internal functions with the common attributes are dealt out in their order: they are hidden symbols then.
    Constants are repeated where they are used.

    Examples
    --------
    >>> ir = "define internal void @f() #0 {\n  ret void\n}\ndefine void @g() #0 {\n  call void @f()\n}\n"
    >>> first, second = pieces(ir + "attributes #0 = { nounwind }\n", size=1)
    >>> print(second)
    attributes #0 = { nounwind }
    define hidden void @f() #0 {
      ret void
    }
    <BLANKLINE>
    """
    if len(ir) <= size:
        yield ir
        return
    *functions, end = ir.split(_END)
    first: list[str] = []
    groups: list[dict[str, str]] = [{}]  # definitions by name
    others, known, length = "", dict[str, str](), 0
    for text in functions:
        start = 0 if text.startswith("define ") else text.index("\ndefine ") + 1
        others += text[:start]
        movable = _MOVABLE.match(text, start)
        if movable is None:
            first += text[start:], _END
            continue
        name, signature = movable["name"], movable["signature"]
        known[name] = f"declare hidden {signature}\n"
        if length and length + len(text) > size:
            groups.append({})
            length = 0
        groups[-1][name] = f"define hidden {signature}{text[movable.end('signature') :]}{_END}"
        length += len(text)
    others += end
    lines = {match["name"]: match[0] for match in _NAMED.finditer(others)}
    variables = {name: line for name, line in lines.items() if " = internal global " in line}
    common, known = _NAMED.sub("", others), known | lines
    for group in ({"": "".join(first), **variables}, *groups):
        body = "".join(group.values())
        missing = (known.keys() & _USED.findall(body)) - group.keys()
        yield common + "".join(known[name] for name in sorted(missing)) + body
