"""The page of what was sent: whole, and inert whatever a name says."""

from inline_snapshot import snapshot

from stet.lsp.presentation.generated_documents import render_request_log
from stet.privacy.request_log import MAX_PARTS, Recipient, RequestRecord, short_names

HEAD = """\
# Request log

Every request that Stet sent from this workspace, latest first: to models (including local
ones), completion models, embedding endpoints, search APIs, web hosts, OpenCode, other agents
and MCP servers. The text itself is not stored here.
Detected keys and passwords were replaced by markers such as `[redacted: AWS key #1]`.
"""


def test_empty_log_has_a_notice() -> None:
    assert render_request_log(()) == f"{HEAD}\nNo requests yet.\n"


def test_latest_request_comes_first_with_host_places_and_redactions() -> None:
    sent = (
        RequestRecord(
            0.0,
            Recipient.EMBEDDINGS,
            "e.example",
            "m",
            parts=("2 passages",),
            characters=9,
            tokens=2,
        ),
        RequestRecord(
            1.0,
            Recipient.MODEL,
            "",
            "smollm2",
            "t1",
            "main",
            ("file a.py lines 1-2", "the question"),
            8000,
            2000,
            (("AWS key", 2), ("password", 1)),
        ),
    )
    assert render_request_log(sent, n_older=1) == snapshot("""\
# Request log

Every request that Stet sent from this workspace, latest first: to models (including local
ones), completion models, embedding endpoints, search APIs, web hosts, OpenCode, other agents
and MCP servers. The text itself is not stored here.
Detected keys and passwords were replaced by markers such as `[redacted: AWS key #1]`.

2 requests, about 2,002 tokens, 3 secrets redacted.

## 1970-01-01T00:00:01Z: model `smollm2` at `this machine`

About 2,000 tokens (8,000 characters), turn `t1`, chat `main`. Redacted: 2 AWS key, 1 password.

- `file a.py lines 1-2`
- `the question`

## 1970-01-01T00:00:00Z: embeddings `m` at `e.example`

About 2 tokens (9 characters). No secrets found.

- `2 passages`

1 older request not shown.
""")


def test_names_are_escaped() -> None:
    evil = "a`](http://x)\n# No\u202e\x1b[8m![](y)"
    page = render_request_log(
        (RequestRecord(0.0, Recipient.PAGE, evil, evil, evil, evil, (evil,)),)
    )
    inert = "`a'](http://x) # No\\u202e\\x1b[8m![](y)`"
    assert page.count(inert) == 5
    assert "\n# No" not in page


def test_places_are_listed_once_on_one_line_and_limited() -> None:
    assert short_names(["a\nb", "a b", "c"]) == ("a b", "c")
    many = short_names([str(n) for n in range(MAX_PARTS + 7)])
    assert (len(many), many[-1]) == (MAX_PARTS + 1, "and 7 more")
