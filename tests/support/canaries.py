"""Made-up secrets, assembled at run time, so that no scanner finds one in this file."""

import random
import string

_LETTERS = string.ascii_letters + string.digits


def random_letters(n: int, seed: int = 1, among: str = _LETTERS) -> str:
    """Return `n` letters, the same for the same seed."""
    return "".join(random.Random(seed).choices(among, k=n))


def keys(seed: int = 1) -> dict[str, str]:
    """Make a key of each recognizable form, by the name in its redaction mark."""
    hexes, capitals = "0123456789abcdef", string.ascii_uppercase + string.digits

    def letters(n: int, among: str = _LETTERS) -> str:
        return random_letters(n, seed, among)

    return {
        "AWS key": "AKIA" + letters(16, capitals),
        "GitHub token": "ghp_" + letters(36),
        "GitLab token": "glpat-" + letters(20),
        "Slack token": "xoxb-" + letters(12, string.digits) + "-" + letters(24),
        "Stripe key": "sk_live_" + letters(24),
        "Google key": "AIza" + letters(35),
        "Anthropic key": "sk-ant-api03-" + letters(40),
        "OpenAI key": "sk-proj-" + letters(48),
        "API key": "sk-" + letters(48),
        "Hugging Face token": "hf_" + letters(34, string.ascii_letters),
        "npm token": "npm_" + letters(36),
        "SendGrid key": "SG." + letters(22) + "." + letters(43),
        "Twilio key": "SK" + letters(32, hexes),
        "Databricks token": "dapi" + letters(32, hexes),
        "web token": f"eyJ{letters(20)}.eyJ{letters(60)}.{letters(43)}",
        "random string": "q7" + letters(46) + "X9z",
    }


def private_key(seed: int = 1, n_lines: int = 5) -> str:
    """Make a private key in PEM, with `n_lines` lines between its first and its last."""
    base = _LETTERS + "+/"
    body = "".join(f"{random_letters(64, seed + n, base)}\n" for n in range(n_lines))
    words = "RSA PRIVATE KEY"
    return f"-----BEGIN {words}-----\n{body}{random_letters(30, seed)}==\n-----END {words}-----\n"
