r"""Control tokens of chat templates, and how text is kept from being read as one.

A local server makes one text of a conversation by its model's template and looks for control tokens
in all of it: `<|im_end|>` in a file ends the user's message there and begins another in whatever role
the file says. So a broken bar is put behind the first sign of each: `<¦|im_end|>`. Everybody can see
it, no vocabulary holds it, and `unescape_special_tokens` takes it out again: for any text, `mended(broken(text))` is
that text, as one that stands broken in it already gets another bar. What nobody sees is shown in the
same go (`stet.text.spoofing`).

Templates that are nothing but words (`### Instruction:`, `USER:`) have no tokens to break.
"""

import re

from stet.text.spoofing import BAR, escape_hidden, unescape_hidden

_WORD = rf"[^\s<>\[\]{BAR}]{{1,64}}"
_ANGLED = "|".join(
    (
        # ChatML, Llama 3 and 4, Phi, Granite, Command, GLM, gpt-oss; DeepSeek has wide bars
        rf"[|\uff5c]{_WORD}>",
        rf"{_WORD}[|\uff5c]>",  # Gemma 4 ends with `<turn|>`
        r"</?SYS>>",  # Llama 2: `<<SYS>>`
        r"/?(?:s|bos|eos|pad|unk|think|role|sop|eop)>",
        r"/?tool_(?:call|response)s?>",  # Hermes, Qwen
        r"(?:start|end)_of_(?:turn|image)>",  # Gemma
        r"(?:image_soft_token|__media__|__image__)>",
        r"(?:unused|reserved_|extra_id_|SPECIAL_|special_)\d{1,6}>",
        r"seed:\w{1,40}>",
    )
)
_SQUARE = "|".join(
    (
        # Mistral
        r"/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|THINK|MODEL_SETTINGS)\]",
        r"\|[\w/-]{1,64}\|\]",  # EXAONE
        r"gMASK\]",  # GLM
        r"e~\[",  # MiniMax
    )
)


def _token_pattern(bars: str) -> str:
    """Return the pattern for the first sign of each token that is followed by the bars `bars`."""
    return rf"<(?={bars}(?:{_ANGLED}))|\[(?={bars}(?:{_SQUARE}))|\](?={bars}~!?b[\[\]])"


_WHOLE = re.compile(_token_pattern(f"{BAR}*"))
_ESCAPED = re.compile(rf"({_token_pattern(f'{BAR}+')}){BAR}")
_MAY_BE_ESCAPED = re.compile(rf"[<\[\]](?:{BAR}|\Z)")
_LONGEST = 150
"""Characters of a token with its bars, about."""


def escape_special_tokens(text: str) -> str:
    """`text` in which nothing is a control token any more, and nothing hidden; see `unescape_special_tokens`."""
    return _WHOLE.sub(rf"\g<0>{BAR}", escape_hidden(text))


def unescape_special_tokens(text: str) -> str:
    """Reverse `escape_special_tokens`, also for a text that quotes a part of an escaped text."""
    return unescape_hidden(_ESCAPED.sub(r"\1", text)) if BAR in text else text


def incomplete_token_start(text: str) -> int:
    """Where at the end of `text` something begins that may have to be mended when more has come."""
    found = _MAY_BE_ESCAPED.search(text, max(0, len(text) - _LONGEST))
    return found.start() if found else len(text)
