"""Secrets in texts: what is found, what is left, and that no text keeps the search busy."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.privacy.secrets import Secret, find_secrets, private_key_lines
from tests.support.canaries import keys, private_key, random_letters


def found(text: str, *, wrapped: bool = False) -> list[tuple[str, str]]:
    """What is found, with its kind."""
    return [(text[one.start : one.end], one.kind) for one in find_secrets(text, wrapped=wrapped)]


@pytest.mark.parametrize(("kind", "key"), keys().items())
@pytest.mark.parametrize(
    "around", ["{}", "x = '{}'\n", "see {}, please", '{{"a": "{}"}}', "a\n{}\nb"]
)
def test_key_is_found_by_its_form_at_any_place(kind: str, key: str, around: str) -> None:
    assert found(around.format(key)) == [(key, kind)]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "hunter2"', "hunter2"),
        ("passwd: 'tr0ub4dor&3'", "tr0ub4dor&3"),
        ("DB_PASSWORD=hunter2", "hunter2"),
        ("    password: hunter22\n", "hunter22"),
        ('{"client_secret": "abcd1234efgh"}', "abcd1234efgh"),
        ('const apiKey: string = "abcd1234efgh";', "abcd1234efgh"),
        ("secret_key = b'django-insecure-#1abc'", "django-insecure-#1abc"),
        ("mysql --password hunter2xyz -u me", "hunter2xyz"),
        ('\\"password\\": \\"hunter2x\\"', "hunter2x"),
        ("postgres://bob:s3cr3t@db.example/x", "s3cr3t"),
        ("Authorization: Bearer abc123def456ghi789jkl0", "abc123def456ghi789jkl0"),
        ('entry.setPassword("topS3cr3tP4$$w0rd")', "topS3cr3tP4$$w0rd"),
        (
            f"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/{random_letters(18)}",
            f"wJalrXUtnFEMI/K7MDENG/{random_letters(18)}",
        ),
    ],
)
def test_value_assigned_to_a_secret_name_is_a_secret(text: str, secret: str) -> None:
    assert [each for each, _ in found(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        'password = input("Password: ")',
        'PASSWORD = "password"',
        "token = self.next_token()",
        'api_key = os.environ["API_KEY"]',
        'api_key = "${API_KEY}"',
        "password: <your password>",
        'TOKEN_TYPE = "urn:ietf:params:oauth:token-type"',
        'tokenizer_config = "l2_supercat_tokenizer_config.json"',
        "https://user:password@example.org/",
        "user:xxxx@example.org https://u:***@h/",
        "def isFirstByteOf4ByteChar(byte): ...",
        "class V1ValidatorWithValuesKwOnly: ...",
        "PyTypeObject *LibRTVecs_I16Type;",
        "0123456789abcdef0123456789abcdef01234567",
        "123e4567-e89b-12d3-a456-426614174000",
        f'"integrity": "sha512-{random_letters(86)}=="',
        f"golang.org/x/net v0.1.0 h1:{random_letters(43)}=",
        f"url(data:image/png;base64,{random_letters(120)})",
        f'ICON = """\n{random_letters(76)}\n{random_letters(76, 2)}\n"""',
        f"see https://docs.example.org/document/d/{random_letters(44)}/edit",
        f" 12\t{random_letters(76)}\n 13\t{random_letters(76, 2)}\n 14\t{random_letters(30)}\n",
        "x" * 5000,
    ],
)
def test_ordinary_text_holds_none(text: str) -> None:
    assert found(text) == []


def test_a_private_key_is_a_secret_line_by_line_with_its_first_and_last_line_left() -> None:
    key = private_key(n_lines=2)
    _, one, two, three, _ = key.splitlines()
    kind = "private key line"
    assert found(f"x\n{key}y\n") == [(one, kind), (two, kind), (three, kind)]
    assert private_key_lines(f"x\n{key}y\n") == (one, two, three)


def test_private_key_in_json_or_after_line_numbers_is_a_secret() -> None:
    key = private_key(n_lines=2)
    bodies = key.splitlines()[1:-1]
    in_json = '{"private_key": "' + key.replace("\n", "\\n") + '"}'
    assert [secret for secret, _ in found(in_json)] == bodies
    numbered = "".join(f"{n:>6}\t{line}\n" for n, line in enumerate(key.splitlines(), 9))
    assert [secret for secret, _ in found(numbered)] == bodies


def test_lines_of_data_count_only_in_a_piece_of_a_text() -> None:
    line = random_letters(64)
    assert found(f"a\n{line}\n{line}\n") == []
    assert [each for each, _ in found(f"a\n{line}\n{line}\n", wrapped=True)] == [line, line]


def test_a_certificate_and_a_public_key_are_no_secrets() -> None:
    key = private_key().replace("RSA PRIVATE KEY", "CERTIFICATE")
    assert found(key) == []


@given(st.text(), st.sampled_from(sorted(keys().values())), st.text())
def test_secrets_are_in_order_apart_and_within_a_line(before: str, key: str, after: str) -> None:
    text = f"{before} {key} {after}"
    secrets = find_secrets(text)
    assert key in [text[one.start : one.end] for one in secrets] or any(
        key in text[one.start : one.end] for one in secrets
    )
    end = 0
    for one in secrets:
        assert end <= one.start < one.end <= len(text)
        assert not {"\r", "\n"} & set(text[one.start : one.end])
        end = one.end


SLOW = {
    "names": "password",
    "names and signs": "token=",
    "dashes": "sk-",
    "web tokens": "eyJ",
    "addresses": "a://",
    "logins": "a://b:",
    "quotes": "secret='",
    "begins": "-----BEGIN PRIVATE KEY-----",
    "letters": "a",
    "mixed": "aB3",
    "spaces": " ",
    "secret and space": "secret \t",
    "bearers": "bearer ",
    "equals": "=",
    "slashes": "/",
    "keys": "AccountKey=",
    "access": "access....",
    "marks": "[redacted: ",
}


@pytest.mark.slow
@pytest.mark.parametrize("piece", SLOW.values(), ids=SLOW.keys())
def test_twice_the_text_takes_no_more_than_about_twice_the_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            find_secrets(text)
            best = min(best, time.process_time() - begun)
        return best

    # A pattern that goes back over the whole text takes minutes here.
    assert seconds(200_000) < 6 * seconds(50_000) + 0.05
    assert seconds(200_000) < 1.5


def test_secret_has_a_range_and_a_kind() -> None:
    key = keys()["AWS key"]
    assert find_secrets(f"k = {key}\n") == (Secret(4, 24, "AWS key"),)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key = acme-qZxWvKjBpTgHrMnDcFsLxQwZ", "acme-qZxWvKjBpTgHrMnDcFsLxQwZ"),
        ("use zed_live_3f7a9b2c4d1e8f6a7b5c", "zed_live_3f7a9b2c4d1e8f6a7b5c"),
        ("VENDOR_MASTER_KEY=3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e", "3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e"),
        ('<add key="VendorToken" value="3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e"/>', "3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e"),
        ("- name: VENDOR_SECRET\n  value: 3f7a9b2c4d1e8f6a7b5c3f7a\n", "3f7a9b2c4d1e8f6a7b5c3f7a"),
        ('"K": "x", "clientSecret": "qZxWvKjBpTgHrMnDcFsL"', "qZxWvKjBpTgHrMnDcFsL"),
        ('variable "db_password" {\n  type = string\n  default = "qZ#WvKj?pTg9"\n}', "qZ#WvKj?pTg9"),
        ("reg add HKCU\\X /v ApiKey /t REG_SZ /d 3f7a9b2c4d1e8f6a", "3f7a9b2c4d1e8f6a"),
        ("password 7 0A1B2C3D4E5F60718293", "0A1B2C3D4E5F60718293"),
    ],
)  # fmt: skip
def test_short_values_are_found_after_a_keyword_or_a_name(text: str, secret: str) -> None:
    assert [text[one.start : one.end] for one in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        '["api_key", "EVP_PKEY_new_raw_public_key"]', "from x import AsyncX509WorkloadIdentityAuth as Auth",
        "cache_key = '3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e'", "sha1: 3f7a9b2c4d1e8f6a7b5c3f7a9b2c4d1e3f7a9b2c",
        "commit-3f7a9b2c4d1e8f6a7b5c", "password = ${DB_PASSWORD_FROM_ENVIRONMENT1}", "api_key: {{ vault_api_key_2 }}",
        "token=<your-token-goes-here-1234>", "primary_key: 123e4567-e89b-12d3-a456-426614174000",
        "s.allowStaleOnFetchRejection", 'password = r"(?:[a-z0-9]+)"', "token_uri = oauth2.example.org/token1",
    ],
)  # fmt: skip
def test_names_hashes_and_place_holders_are_no_secrets(text: str) -> None:
    assert find_secrets(text) == ()
