"""What is printed, fit for a terminal."""

from __future__ import annotations

import json

from microagg.wording import visible


def one_json(content: object) -> str:
    """One object as JSON in which names are as they are, and no sign is one that a terminal acts upon."""
    text = json.dumps(content, ensure_ascii=False)
    return "".join(sign if visible(sign) == sign else f"\\u{ord(sign):04x}" for sign in text)
