"""Passwords in files of settings are found; code and forms that speak of them are left."""

import pytest

from stet.privacy.secrets import find_secrets
from tests.support.growth import grows_evenly


@pytest.mark.parametrize(
    "text",
    [
        "spring.datasource.password={}\n",
        "password={}\n",
        "a = 1\n  db_password = {}\r\nb = 2\n",
        "password: {}\n",
        "ansible_become_pass: {}\n",
        "machine x.example login me password {}\n",
        "<password>{}</password>\n",
        '<add key="Password" value="{}"/>\n',
        "curl -u admin:{} https://x.example\n",
    ],
)
@pytest.mark.parametrize("secret", ["S3cretPass1", "S3cret!Pass", "tr0ub4dor&3"])
def test_a_password_in_settings_is_found(text: str, secret: str) -> None:
    found = find_secrets(text.format(secret))
    assert [text.format(secret)[one.start : one.end] for one in found] == [secret]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("https://ghtoken1234567890abcdef@github.com/x\n", "ghtoken1234567890abcdef"),
        ("https://api.example/x?access_token=abc123def456ghi789\n", "abc123def456ghi789"),
    ],
)
def test_a_token_in_an_address_is_found(text: str, secret: str) -> None:
    assert [text[one.start : one.end] for one in find_secrets(text)] == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "password = get_password()\n", "password: str\n", "password=password\n", "password=password1\n",
        "password: string;\n", "    password=self.password2\n", "password = sha256_of_text\n",
        "password = config.db.password1\n", "password = PasswordV2\n", "password = Sha256Digest\n",
        "password = new_password!\n", "password=${PASSWORD_1}\n", "password=<your password 1>\n",
        "password = $PASSWORD1\n", "password: changeme123!\n", "password = args[1]\n",
        "password: Optional[str2]\n", "password = input2 or default1\n", "password: https://x.example/1\n",
        "<password>Enter 8 or more</password>\n", "<password>required</password>\n",
        '<input type="password" value="Passwort"/>\n', '<label for="password">Password1</label>\n',
        "login and password reset\n", "curl -u user:password https://x\n", "docker run -u 1000:1000 x\n",
        "https://git@github.com/x\n", "https://api.example/x?access_token=ACCESS_TOKEN\n",
        "curl -u $USER:$PASSWORD1 https://x\n", "password = Base64Password\n",
    ],
)  # fmt: skip
def test_text_about_passwords_is_no_secret(text: str) -> None:
    assert find_secrets(text) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    [
        "password=aaaaaaa",
        "password=",
        "login ",
        "login a password ",
        "<password>a",
        "-u a:",
        "://a1",
    ],
)
def test_search_time_is_linear(piece: str) -> None:
    assert grows_evenly(find_secrets, lambda n: piece * (n // len(piece)), 20_000)
