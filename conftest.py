"""What is collected where PyTorch, the one large package of the tests that is not in the extra ``test``, is missing."""

import os
from importlib.util import find_spec

collect_ignore: list[str] = []
if find_spec("torch") is None and "CI" not in os.environ:
    collect_ignore += ["src/kinetree/interop/torch.py", "docs/frameworks.md"]
