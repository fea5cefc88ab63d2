"""Why the team is not reached: each cause with the remedy that mends it, as an error.

An outage (TEAM_UNREACHABLE) may end by itself. What is set up wrongly (TEAM_MISCONFIGURED) stays until somebody mends
it.
"""

from __future__ import annotations

import re
import socket
import ssl
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

from jobs import clock
from jobs.errors import JobError

_PROBE_SECONDS = 3.0
_EXPIRED, _NOT_YET_VALID, _OTHER_NAME, _OTHER_ADDRESS = 10, 9, 62, 64  # OpenSSL's codes of a certificate's check
# In a certificate's bytes: two moments in UTC, of which those before 2050 have two digits for the year (RFC 5280).
_VALIDITY = re.compile(rb"(?:\x17\x0d|\x18\x0f)(\d{12,14})Z(?:\x17\x0d|\x18\x0f)(\d{12,14})Z")
_MEANWHILE = " No action needed if it comes back: jobs wait here, and questions are answered from this machine's copy."


def trusted(ca_file: str | None) -> ssl.SSLContext:
    """The certificates that the gateway's is checked with. Raises JobError: SETTING_INVALID for a file that is none."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        why = getattr(error, "reason", None) or getattr(error, "strerror", None) or type(error).__name__
        raise JobError(
            "SETTING_INVALID",
            f"The setting team_ca_file is {ca_file}, which cannot be read as certificates: {why}.",
            remediation="Ask an operator for the authority's certificate (ca.pem), and write its path into"
            " team_ca_file.",
        ) from None


def refused_by_gateway() -> JobError:
    """The error of a token that is not in force."""
    return JobError(
        "TEAM_REFUSED",
        "The team's gateway does not let this machine in: its token is missing, unknown, expired or revoked.",
        remediation="Ask an operator for a new token, and write it into team_token in config.toml. Then:"
        " cognee-memory worker restart. Jobs wait until then.",
    )


def not_shown(*, is_yet_to_share: bool) -> JobError:
    """The error of a workspace that the team does not show: it tells nobody whether a workspace of others exists."""
    if is_yet_to_share:
        said, helps = "The team does not know this workspace yet.", "Its worker shares it: cognee-memory worker start."
    else:
        said = "The team does not show you this workspace, or not any more."
        helps = "An operator can let you in again (team member, team give). Jobs wait here until then."
    return JobError("TEAM_NOT_SHARED", said, remediation=helps)


How = Literal["no answer", "cut off", "not connected"]


def of_gateway(address: str, ca_file: str | None, error: Exception, how: How) -> JobError:
    """The error of a request to the gateway at this address: it had no answer in time, or its connection was cut off
    or not made. To find out more, it may connect once again."""
    parts = urlsplit(address)
    cause = _cause(error)
    if isinstance(cause, ssl.SSLCertVerificationError):
        return _certificate_refused(parts, ca_file, cause)
    if isinstance(cause, ssl.SSLError):
        return JobError(
            "TEAM_MISCONFIGURED",
            f"What answers at {_place(parts)} does not speak https.",
            remediation="Check the port in the setting team. The gateway speaks https where it was started with"
            " --certificate and --key, or behind a proxy that does.",
        )
    if parts.scheme == "http" and how == "cut off" and _names(parts, None) is not None:
        return JobError(
            "TEAM_MISCONFIGURED",
            f"The team's gateway at {_place(parts)} speaks https, not http.",
            remediation="Write https:// in the setting team.",
        )
    said, remedy = _outage(parts, cause, how)
    return JobError("TEAM_UNREACHABLE", f"The team's gateway cannot be reached: {said}.", remediation=remedy)


def _place(parts: SplitResult) -> str:
    """Host and port, for people."""
    return f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"


def _cause(error: BaseException) -> BaseException:
    """The first error, from which this one came."""
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return error


def _certificate_refused(parts: SplitResult, ca_file: str | None, error: ssl.SSLCertVerificationError) -> JobError:
    host = parts.hostname or ""
    if error.verify_code in (_EXPIRED, _NOT_YET_VALID):
        said = f"The certificate of the team's gateway is not valid now: {error.verify_message}."
        remedy = "An operator renews it and restarts the gateway. Check the clock of this machine, too."
    elif error.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        names = _names(parts, ca_file)
        said = (
            f"The certificate of the team's gateway is for {', '.join(names or ()) or 'another name'}, not for {host}."
        )
        remedy = (
            "Write a name that the certificate has into the setting team, or let an operator make a certificate for"
            f" {host} as well."
        )
    else:
        why = (error.verify_message or "").rstrip(".")
        said = f"This machine does not trust the certificate of the team's gateway at {host}: {why}."
        remedy = (
            "Ask an operator for the certificate of the authority that signed it (ca.pem), and write its path into the"
            " setting team_ca_file."
            if ca_file is None
            else f"The setting team_ca_file is {ca_file}, which is of another authority: ask an operator for the"
            " present one."
        )
    return JobError("TEAM_MISCONFIGURED", said, remediation=remedy)


def invalid_now(certificate: Path) -> str | None:
    """Why the time of a gateway's own certificate is not now, as its machines will find; None if it is. Its key, which
    may have a passphrase, is not needed. Whoever serves with the certificate says what else is wrong with it."""
    try:
        _, begin, rest = certificate.read_text("ascii", "replace").partition(ssl.PEM_HEADER)
        body, end, _ = rest.partition(ssl.PEM_FOOTER)
        found = _VALIDITY.search(ssl.PEM_cert_to_DER_cert(begin + body + end))
    except (OSError, ValueError):
        return None
    if found is None:
        return None
    first, last = (each if len(each) == 14 else (b"19" if each >= b"5" else b"20") + each for each in found.groups())
    now = clock.now().strftime("%Y%m%d%H%M%S").encode()
    return "certificate is not yet valid" if now < first else "certificate has expired" if now >= last else None


def _names(parts: SplitResult, ca_file: str | None) -> list[str] | None:
    """The names of the certificate that this address shows, if it is trusted; None where nobody speaks TLS."""
    context = ssl.create_default_context(cafile=ca_file)
    context.check_hostname = False
    try:
        place = (parts.hostname or "", parts.port or 443)
        with socket.create_connection(place, _PROBE_SECONDS) as plain, context.wrap_socket(plain) as secured:
            found = secured.getpeercert() or {}
    except ssl.SSLCertVerificationError:
        return []
    except (OSError, ValueError):
        return None
    return [str(pair[1])[:100] for pair in found.get("subjectAltName", ())][:5]


def _outage(parts: SplitResult, cause: BaseException, how: How) -> tuple[str, str]:
    """What happened, and what helps."""
    place = _place(parts)
    if isinstance(cause, socket.gaierror):
        return (
            f"this machine does not find the name {parts.hostname}",
            f"Check the name in the setting team, and this machine's network.{_MEANWHILE}",
        )
    if isinstance(cause, ConnectionRefusedError):
        return (
            f"nothing listens at {place}",
            f"Check the port in the setting team, and whether the gateway runs.{_MEANWHILE}",
        )
    if how == "no answer":
        return (
            f"{place} did not answer in time",
            f"Check this machine's network, and the address in the setting team.{_MEANWHILE}",
        )
    return (
        f"the connection to {place} broke off ({type(cause).__name__})",
        f"If it stays, see the gateway's log, and the address in the setting team.{_MEANWHILE}",
    )


# What the driver says of a connection that was not made -> what helps. The first that fits counts.
_OF_DATABASE: tuple[tuple[str, str, str], ...] = (
    (
        "root certificate file", "TEAM_MISCONFIGURED",
        "Write the path of the authority's certificate (ca.pem) into the setting store: ?sslrootcert=FILE.",
    ),
    (
        "certificate verify failed", "TEAM_MISCONFIGURED",
        "The certificate of the database is not trusted: write the path of its authority's certificate (ca.pem) into"
        " the setting store: ?sslrootcert=FILE.",
    ),
    (
        "does not match host name", "TEAM_MISCONFIGURED",
        "Write the name that the certificate has into the setting store, or let an operator make a certificate for this"
        " name as well.",
    ),
    (
        "does not support SSL", "TEAM_MISCONFIGURED",
        "Check the port in the setting store. PostgreSQL needs ssl = on and a certificate: docs/team-operations.md.",
    ),
    (
        "Connection refused", "TEAM_UNREACHABLE",
        f"Check the port in the setting store, and whether PostgreSQL runs.{_MEANWHILE}",
    ),
    (
        "not known", "TEAM_UNREACHABLE",
        f"Check the name in the setting store, and this machine's network.{_MEANWHILE}",
    ),
    (
        "timeout", "TEAM_UNREACHABLE",
        f"Check this machine's network, and the address in the setting store.{_MEANWHILE}",
    ),
)  # fmt: skip


def of_database(said: str) -> JobError:
    """The error of a database that is not reached, of what the driver said."""
    fits = ((code, remedy) for phrase, code, remedy in _OF_DATABASE if phrase in said)
    code, remedy = next(fits, ("TEAM_UNREACHABLE", ""))
    return JobError(code, f"The team's database cannot be used now: {said}.", remediation=remedy)
