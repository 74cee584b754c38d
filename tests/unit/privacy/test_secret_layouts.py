"""Secrets that are recognised by the layout of their surroundings."""

import base64
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stet.privacy.secrets import find_secrets
from tests.support.canaries import keys, private_key, random_letters

PASSWORD = "tr0ub4dor&3x"
PEM = private_key(n_lines=4)
BODY = PEM.splitlines()[1:-1]
KEYS = keys()
HEX = random_letters(40, among="0123456789abcdef")


def found(text: str) -> list[str]:
    return [text[one.start : one.end] for one in find_secrets(text)]


@pytest.mark.parametrize(
    "text",
    [
        "machine example.org\n  login me\n  password {}\n",
        "machine example.org\n\tlogin me\n\tpassword {}\n\nmachine other.org\n\tlogin x\n",
        "machine example.org login me password {}\n",
        "machine example.org\r\nlogin me\r\naccount x\r\npassword {}\r\n",
        "machine example.org\n  password {}\n  login me\n",
        "default\n  login anonymous\n  password {}\n",
        "localhost:5432:app:me:{}\n",
        "# host:port:db:user:password\n*:*:*:me:{}\ndb.example.org:5433:a:b:other-99\n",
        "db.example.org:6432:app:me:{}",
        "password:\n  {}\n",
        '"password":\n    "{}",\n',
        "password = \\\n    '{}'\n",
        "password = (\n    '{}'\n)\n",
        "password: |\n  {}\nnext: 1\n",
        "db_password: >-\r\n    {}\r\n",
        "user,password\nme,{}\n",
        "name;e-mail;password;role\na;a@b.example;{};x\n",
        'id\tuser\tpassword\n1\tme\t{}\n',
        '"user","password"\n"me","{}"\n',
        "id,api_key,note\n1,{},x\n",
    ],
)  # fmt: skip
def test_a_password_is_found_by_the_layout(text: str) -> None:
    assert PASSWORD in found(text.format(PASSWORD))


def test_every_row_of_a_column_is_one() -> None:
    values = [f"pass{n}word!" for n in range(50)]
    table = "user,password,role\n" + "".join(f"u{n},{one},x\n" for n, one in enumerate(values))
    assert found(table) == values


@pytest.mark.parametrize("name", KEYS)
def test_the_encoding_of_a_key_is_a_secret(name: str) -> None:
    if name == "random string":  # nothing says what it is
        return
    encoded = base64.b64encode(KEYS[name].encode()).decode()
    assert found(f"data: {encoded}\n") == [encoded]
    in_text = base64.b64encode(f"TOKEN={KEYS[name]}".encode()).decode()
    assert found(f'"config": "{in_text}"\n') == [in_text]


@pytest.mark.parametrize("before", ["", "a", "ab", "key:\n", "certificate and key of a host\n"])
@pytest.mark.parametrize("width", [64, 76, 100_000])
def test_the_encoding_of_a_private_key_is_one_on_every_line(before: str, width: int) -> None:
    encoded = base64.b64encode(f"{before}{PEM}".encode()).decode()
    lines = textwrap.wrap(encoded, width)
    for indent in ("", "  "):
        text = "tls.key: |\n" + "".join(f"{indent}{line}\n" for line in lines) + "next: 1\n"
        hidden = "".join(found(text))
        assert [line for line in lines if line not in hidden] == []


def test_a_private_key_without_its_first_line_is_one() -> None:
    lines = PEM.splitlines(keepends=True)
    assert found("x\n" + "".join(lines[1:]) + "y\n") == BODY
    assert found("x\n" + "".join(lines[2:])) == BODY[1:]


DER = {
    "PKCS 1, RSA": "MIIEpAIBAAKCAQEA",
    "PKCS 1, another size": "MIIJKQIBAAKCAgEA",
    "PKCS 8, RSA": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
    "PKCS 8, EC": "MIGHAgEAMBMGByqGSM49AgEG",
    "SEC 1": "MHcCAQEEIO",
    "Ed25519": "MC4CAQAwBQYDK2VwBCIEI",
    "OpenSSH": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmU",
}


@pytest.mark.parametrize("kind", DER)
def test_the_body_of_a_private_key_alone_is_one(kind: str) -> None:
    base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    first = DER[kind] + random_letters(64 - len(DER[kind]), 3, base)
    lines = [first, *(random_letters(64, n, base) for n in range(4, 7)), "Ab3dEf7h=="]
    assert found("x = '''\n" + "\n".join(lines) + "\n'''\n") == lines
    joined = first + random_letters(400, 9, base)
    assert found(f'{{"key": "{joined}"}}') == [joined]


def test_the_body_of_a_certificate_alone_is_none() -> None:
    base = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    first = "MIIDxTCCAq2gAwIBAgIQ" + random_letters(44, 3, base)
    lines = [first, *(random_letters(64, n, base) for n in range(4, 7))]
    assert found("\n".join(lines) + "\n") == []


JOINS = (
    '"{}" + "{}"', "'{}' '{}'", '"{}"\n    "{}"', '"{}" \\\n "{}"', "'{}' +\n  '{}'",
    "'{}'\n  + '{}'", '"{}" . "{}"', '"{}" & "{}"', '("{}"\r\n "{}")',
)  # fmt: skip


@pytest.mark.parametrize("join", JOINS)
@pytest.mark.parametrize("name", ["GitHub token", "Stripe key", "AWS key", "Anthropic key"])
def test_a_key_that_is_cut_into_two_literals_is_found(join: str, name: str) -> None:
    key = KEYS[name]
    for at in (len(key) // 2, 8):
        left, right = key[:at], key[at:]
        hidden = found(f"x = {join.format(left, right)}\n")
        assert right in hidden, (left, right)


def test_a_key_that_is_cut_into_four_literals_is_found() -> None:
    parts = textwrap.wrap("sk_live_" + random_letters(40), 12)
    hidden = found("key = " + " + ".join(f'"{part}"' for part in parts))
    assert [part for part in parts[1:] if part not in hidden] == []


@pytest.mark.parametrize(
    "text",
    [
        "machine learning is a default; the login and password are asked for\n",
        "machine example.org\n  login me\n  password <password>\n",
        "src/app.py:5432:10:error:expected\n".replace("5432", "12"),
        "user, password, host = row\nme, hunter, x = 1\n",
        "def login(user, password, host):\n    a, b1, c = 1, 2, 3\n",
        "password:\n  the password of the user\n",
        "if password:\n    return1()\n",
        "token:\n    self.next2_token(1)\n",
        "x = 'the first part of a' \\\n    'sentence with 1 number'\n",
        "version = '1.2.3' + '.dev0'\n",
        "user,password\nname,password of the user\n",
        "| password | a word |\n| --- | --- |\n",
    ],
)
def test_ordinary_text_holds_none(text: str) -> None:
    assert found(text) == []


@given(st.text(alphabet="aA1+/=-_.:,'\"\n\\ MIBLS0t5432machine password", max_size=300))
def test_no_text_breaks_the_search(text: str) -> None:
    end = 0
    for one in find_secrets(text):
        assert end <= one.start < one.end <= len(text)
        assert not {"\r", "\n"} & set(text[one.start : one.end])
        end = one.end


SLOW = (
    "machine ", "machine a password ", "default\n", ":5432:", "a:*:b:c:d\n", "password,", "password\n",
    "a,password\n", "' '", "'a' + ", "'a1' 'b2' ", "IBAA", "MIIEpAIBAAKCAQEA", "LS0tLS1CRUdJTi", "MHcCAQEE\n",
    "-----END PRIVATE KEY-----", "A" * 64 + "\n", "token:\n ", "aB3/", "a1.", "sk-", "a-1_", "pat-",
    "MIIEpAIBAAKCAQEA\n", "a,password\nb,c1\n", "password,a\nx1x1x1,b\n",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("piece", SLOW)
def test_twice_the_text_takes_no_more_than_about_twice_the_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * (size // len(piece) + 1))[:size]
        best = float("inf")
        for _ in range(2):
            begun = time.process_time()
            find_secrets(text)
            best = min(best, time.process_time() - begun)
        return best

    assert seconds(80_000) < 6 * seconds(20_000) + 0.1
