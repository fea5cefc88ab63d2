"""A secret is found behind its name however it is assigned, and goes whole; code and prose stay."""

from __future__ import annotations

import base64
import json

import pytest

from bridge.privacy.redaction import Redacted, redact

SECRET = "kT9vQz4LmW2x" + "Yp7RbN3c"


@pytest.mark.parametrize(
    "text",
    [
        "X_TOKEN ?= «»", 'X_TOKEN ::= "«»"', 'X_TOKEN :::= "«»"', '$xToken .= "«»"', 'var xToken string = "«»"',
        'val password: String = "«»"', 'System.setProperty("X_TOKEN", "«»")', "define('PASSWORD' , '«»');",
        "<xToken>«»</xToken>", "<xToken>\n    «»\n</xToken>", '<add key="ApiKey" value="«»" />',
        "tool --api-token «» --verbose", "tool --password «»", 'tool --db-api-key "«»"', "setx X_API_KEY «»",
        "export X_API_KEY=«»", "ENV X_API_KEY «»", "set -x X_API_KEY «»", "curl -u user:«» https://x.test",
        'curl --user "user:«»" https://x.test', "sshpass -p «» ssh host", "mysql -u root -p«» db",
        "machine h.test login me password «»", "machine h.test\n  login me\n  password «»\n",
        "| API_KEY | «» |", "| `API_KEY` | `«»` |", "The API key is «».", "the API key is «», as agreed",
        "the token was `«»`", "API key: «»", "PASSWORD '«»'", "CREATE USER x IDENTIFIED BY '«»';",
        "ALTER ROLE x WITH PASSWORD '«»';", '#define PASSWORD "«»"', "**token**: «»", 'os.environ["API_KEY"] = "«»"',
        "?api_key=«»&page=1", "(password=«»)", "password=«», user=x", "Pwd=«»;Encrypt=yes", "ID:master,PW:«»",
        "Authorization: «»", "x_credential = '«»'",
    ],
)  # fmt: skip
def test_however_it_is_assigned_the_secret_alone_goes(text: str) -> None:
    before, after = text.split("«»")
    redacted = redact(before + SECRET + after)
    assert sum(redacted.counts.values()) == 1
    (kind,) = redacted.counts
    assert redacted.text == f"{before}[REDACTED:{kind}]{after}"


@pytest.mark.parametrize(
    "text",
    [
        "users:\n- user:\n    client-key-data: «»", "session:\n  secret_key_base: «»", "bindDN cn=a / bindPassword «»",
        "use root with password «» here", "bindpw «»", "the password for the box is «»", "password (staging): «»",
        "the TOTP seed for the admin account is «»", "credentials for the router: admin / «»",
        "Zugangsdaten: admin / «»", "Cookie: theme=dark; sessionid=«»; lang=en", "Cookie: a=b; auth_token=«»",
        # other languages
        "das Passwort ist «», bitte", "Das Kennwort lautet: «»", "WLAN-Passwort im Büro: «»", "mit Passwort «» an",
        "der API-Schlüssel ist «»", "le mot de passe est «»", "mdp : «»", "la clé API est «»", "la clé d'API : «»",
        "le jeton est «»", "la contraseña es «»", "la clave de API es «»", "a senha é «»", "пароль: «»", "пароль — «»",
        "密码是«»", "密码：«»，请保存", "パスワードは«»", "비밀번호: «»", "รหัสผ่าน: «»",
    ],
)  # fmt: skip
def test_the_words_before_a_secret_tell_it_in_every_language_of_the_texts(text: str) -> None:
    before, after = text.split("«»")
    redacted = redact(before + SECRET + after)
    (kind,) = redacted.counts
    assert redacted.text == f"{before}[REDACTED:{kind}]{after}"


@pytest.mark.parametrize(
    "text", ["Das Kennwort lautet: Gr8-Tante_«»", "DEPLOY_KEY=1 API_KEY=mySecret«»", "the password is xT9!mm«»"]
)
def test_a_password_of_words_is_found_where_nothing_else_can_stand(text: str) -> None:
    assert sum(redact(text.replace("«»", "Wolke42")).counts.values()) == 1


@pytest.mark.parametrize(
    "password",
    [
        "Tr0ub4dor&3", "aB3dE9x!&ZMv", "x7;Kq2,Lm9)Rt4", "p9(Wz]4{Vn}8", "Q<5w>R8t|Y2", "*Qw7#er9Ty", "@Qw7#er9Ty",
        ":Qw7#er9Ty", "$Qw7!er9Ty", "%Qw7#er9Ty", "Zx9'Cv8Bn7", "Winter2024!",
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", ['DB_PASSWORD="«»"', '{"password": "«»", "x": 1}', "DB_PASSWORD=«» on the box"])
def test_a_password_goes_whole_whatever_its_signs(password: str, text: str) -> None:
    redacted = redact(text.replace("«»", password))
    assert redacted.text == text.replace("«»", "[REDACTED:password]")


def test_a_brace_in_quotes_begins_a_password_too() -> None:
    assert redact('DB_PASSWORD="{Qw7#er9Ty"').text == 'DB_PASSWORD="[REDACTED:password]"'


@pytest.mark.parametrize(
    "value",
    [
        "aBcQwXyZpLmNrTvKjHgFdSt",
        "yqDVtkqPECriaLRi",
        "pmxtqkvcmzrbgvrw",
        "QwErTyxZvBnMkLpOjHgFdSaQ-WzXcVbN_mKlPoIuYtReW",
        "qP_zXcVbNmKjHgFdSaPoIuY",
    ],
)
def test_a_value_without_digits_is_found_if_its_letters_are_random(value: str) -> None:
    assert redact(f"CLIENT_SECRET={value}").text == "CLIENT_SECRET=[REDACTED:secret]"


@pytest.mark.parametrize(
    "text",
    [
        "encryption_key = base64.urlsafe_b64encode(", "token=TokenElement(id=1425, text='100', logprob=-1.01)",
        "WHERE api_key = ANY($1::text[]) AND x", "for(var pass=0;pass<3;pass++){",
        'Credential=Bearer\\s+([^/\\s,]+)', "passphrase: &#x3C;string>]}", "the token is OAuth2, as before",
        "the secret was rotated on 2024-05-01", "| API_KEY | required since v2.1 |", "| TOKEN | sha256 |",
        "| token | 1Password, 42, a1B2c3D4 |",
        "tool --token-file /run/secrets/db1", "tool --password --user root", "tool --token $TOKEN",
        "if token > limit2 and x:", "<token>OAuth2</token>", 'keys = ("token", "password", "api_key")',
        "the token 'OAuth2' is", 'password: "@Value"', "password = ':password'", "password: *default_password",
        "docker run -u 1000:1000 curlimages/curl", "mysql -p3306 -u root", "mongodb://mongodb:mongodb@host/",
        "the key of the cache in commit: 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39", "fakeToken = 'a1B2c3D4e5F6'",
        "the link ?session=4dd2bc86-1a2b-4c3d-8e9f-0a1b2c3d4e5f",
        "das Passwort ist falsch", "das Passwort lautet nicht admin2", "le mot de passe est obligatoire",
        "the password is SHA256-hashed", "v1_api_key = _async_v1_api_key", "recovery codes: 10 per user",
        "backup codes are stored in 1Password", "backup code 2024-11-25", "login: GET / POST2",
        "password hashing of step 2: argon2id", "AccessToken: OAuthAccessTokenProvider",
        'secret = "ContentPolicyViolation: <entire graph context and api_base>"', "the API key is set in step2-config",
    ],
)  # fmt: skip
def test_code_and_prose_about_secrets_stay(text: str) -> None:
    assert redact(text) == Redacted(text)


def test_a_long_value_with_digits_goes_from_a_variable_of_the_environment() -> None:
    for value in ("zlcbt-helloworld380_testin", "team_build-agent-2024-key"):
        assert (
            redact(f"We set STAGING_API_KEY={value} in .env").text
            == "We set STAGING_API_KEY=[REDACTED:api-key] in .env"
        )
    for value in (
        "the-name-of-a-secret-in-the-vault",
        "/run/secrets/staging_api_key_1",
        "${STAGING_API_KEY_V2_FROM_CI}",
    ):
        text = f"We set STAGING_API_KEY={value} in .env"
        assert redact(text) == Redacted(text)


def test_the_private_members_of_a_json_web_key_go_and_a_public_key_stays() -> None:
    public = {"kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"[:28], "kid": "1"}
    private = public | {"d": "-phZ8N4GuwZchy7FCMB14IA35dBU3sWy2ORxwWN8PbK"}
    assert redact(json.dumps(private)).text == json.dumps(private | {"d": "[REDACTED:private-key]"})
    assert redact(base64.urlsafe_b64encode(json.dumps(private).encode()).decode()).text == "[REDACTED:private-key]"
    for text in (json.dumps(public), base64.urlsafe_b64encode(json.dumps(public).encode()).decode()):
        assert redact(text) == Redacted(text)
