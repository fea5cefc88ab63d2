"""What is told of a gateway that is not reached: each cause by itself, with the remedy that mends it. Real TLS."""

import shutil
import socket
import ssl
import subprocess
from pathlib import Path
from typing import NamedTuple

import loopback
import pytest
from postgres import free_port

from bridge.team import unreached
from bridge.team.gateway_team import GatewayTeam
from jobs.errors import JobError

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


class Certified(NamedTuple):
    """Certificates as the guide makes them: an authority, and one for localhost and memory.example.org."""

    authority: str
    other_authority: str
    context: ssl.SSLContext


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Certified:
    folder = tmp_path_factory.mktemp("certificates")

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=folder)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    for name in ("ca", "other"):
        uses = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        openssl("req", "-x509", *key, "-subj", f"/CN={name}", *uses, "-keyout", f"{name}.key", "-out", f"{name}.pem")
    names = ("-addext", "subjectAltName=DNS:memory.example.org,DNS:localhost")
    openssl("req", *key, "-subj", "/CN=g", *names, "-keyout", "g.key", "-out", "g.csr")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy")
    openssl("x509", "-req", "-in", "g.csr", *signed, "-out", "g.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "g.pem", folder / "g.key")
    return Certified(str(folder / "ca.pem"), str(folder / "other.pem"), context)


class Answering(loopback.Handler):
    def do_POST(self) -> None:
        self.body()
        self.answer(b'{"value": "2026-11-20T12:00:00Z"}')


def error_of(address: str, ca_file: str | None = None, patience: float = 20) -> JobError:
    team = GatewayTeam(address, "cmt_a_b", ca_file=ca_file, patience=patience)
    try:
        with pytest.raises(JobError) as caught:
            team.time()
    finally:
        team.close()
    assert "cmt_a_b" not in f"{caught.value.message} {caught.value.remediation}"
    return caught.value


def told(error: JobError) -> str:
    return f"{error.code}: {error.message} {error.remediation}"


def test_with_the_authority_and_the_right_name_the_gateway_is_reached(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        team = GatewayTeam(f"https://localhost:{port}", "cmt_a_b", ca_file=certified.authority)
        assert team.time()
        team.close()


def test_without_the_authority_it_says_which_setting_needs_it(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"https://localhost:{port}")
        assert found.code == "TEAM_MISCONFIGURED"
        assert "does not trust the certificate of the team's gateway at localhost" in found.message
        assert "team_ca_file" in found.remediation
        other = error_of(f"https://localhost:{port}", certified.other_authority)
    assert f"team_ca_file is {certified.other_authority}, which is of another authority" in other.remediation


def test_a_name_that_the_certificate_does_not_have_is_told_with_those_that_it_has(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"https://127.0.0.1:{port}", certified.authority)
    assert found.code == "TEAM_MISCONFIGURED"
    assert "is for memory.example.org, localhost, not for 127.0.0.1" in found.message
    assert "setting team" in found.remediation


def test_http_where_https_is_spoken_is_told_and_the_other_way_round(certified: Certified) -> None:
    with loopback.serving(Answering, certified.context) as port:
        found = error_of(f"http://localhost:{port}")
    assert told(found).startswith("TEAM_MISCONFIGURED: ")
    assert "speaks https, not http" in found.message
    assert "https://" in found.remediation
    with loopback.serving(Answering) as port:
        found = error_of(f"https://localhost:{port}")
    assert told(found).startswith("TEAM_MISCONFIGURED: ")
    assert "does not speak https" in found.message


def test_a_gateway_that_is_not_there_is_told_by_host_and_port_as_an_outage() -> None:
    port = free_port()
    found = error_of(f"https://localhost:{port}")
    assert (found.code, f"nothing listens at localhost:{port}" in found.message) == ("TEAM_UNREACHABLE", True)
    assert "whether the gateway runs" in found.remediation
    found = error_of("https://no-such-host.invalid")
    assert (found.code, "does not find the name no-such-host.invalid" in found.message) == ("TEAM_UNREACHABLE", True)
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        found = error_of(f"http://127.0.0.1:{deaf.getsockname()[1]}", patience=0.2)
    assert (found.code, "did not answer in time" in found.message) == ("TEAM_UNREACHABLE", True)


def test_a_file_of_certificates_that_is_none_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    empty.write_text("nothing")
    for path in (str(empty), str(tmp_path / "absent")):
        with pytest.raises(JobError, match="SETTING_INVALID") as caught:
            GatewayTeam("https://localhost", "t", ca_file=path)
        assert path in caught.value.message
        assert "ca.pem" in caught.value.remediation


UNREACHED = [
    ('root certificate file "/ca.pem" does not exist', "TEAM_MISCONFIGURED", "sslrootcert=FILE"),
    ("SSL error: certificate verify failed", "TEAM_MISCONFIGURED", "sslrootcert=FILE"),
    ('server certificate for "a" does not match host name "b"', "TEAM_MISCONFIGURED", "the certificate has"),
    ("server does not support SSL, but SSL was required", "TEAM_MISCONFIGURED", "ssl = on"),
    ("Connection refused", "TEAM_UNREACHABLE", "whether PostgreSQL runs"),
    ("no connection in time", "TEAM_UNREACHABLE", "No action needed if it comes back"),
]


@pytest.mark.parametrize(("said", "code", "remedy"), UNREACHED)
def test_of_a_database_that_is_not_reached_each_cause_has_its_remedy(said: str, code: str, remedy: str) -> None:
    found = unreached.of_database(said)
    assert (found.code, remedy in found.remediation) == (code, True)
    assert said in found.message
