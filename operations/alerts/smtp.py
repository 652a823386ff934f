"""Hands a message to the mail server of the settings, encrypted and with its certificate verified."""

import re
import smtplib
import ssl
import threading
from contextlib import suppress
from socket import SHUT_RDWR

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from operations.alerts.attempt import Outcome
from runtime.settings import Settings

ACCEPTED = 250
_POLICY = re.compile(rb"5\.7\.\d")
"""Enhanced status codes of a refusal by policy: it concerns the server and its sender, not the address [RFC 3463]."""


def hand_over(settings: Settings, recipient: str, message: bytes) -> Outcome:
    """Hand a message for one recipient to the mail server.

    It is delivered if the server takes it, whatever happens on leaving. The text beside the server's codes is not
    reported: it may repeat addresses.
    """
    assert settings.mail_from is not None
    slow = threading.Event()
    server: smtplib.SMTP | None = None

    def cut() -> None:
        slow.set()
        if server is not None and server.sock is not None:
            with suppress(OSError):
                server.sock.shutdown(SHUT_RDWR)

    timer = threading.Timer(settings.smtp_seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        server = _connected(settings)
        if settings.smtp_security == "starttls":
            server.starttls(context=_context(settings))
        if settings.smtp_user is not None:
            _log_in(server, settings.smtp_user, settings.smtp_password or "")
        server.sendmail(settings.mail_from, [recipient], message)
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
    except (smtplib.SMTPException, OSError) as error:
        if slow.is_set():
            return Outcome(None, absent(Reason.MAIL_SLOW, seconds=settings.smtp_seconds))
        return _failed(error, settings)
    finally:
        timer.cancel()
        if server is not None:
            server.close()
    return Outcome(ACCEPTED)


def _connected(settings: Settings) -> smtplib.SMTP:
    assert settings.smtp_host is not None
    assert settings.mail_from is not None
    here = settings.mail_from.rpartition("@")[2]
    where, seconds = (settings.smtp_host, settings.smtp_port, here), settings.smtp_seconds
    if settings.smtp_security == "tls":
        return smtplib.SMTP_SSL(*where, timeout=seconds, context=_context(settings))
    return smtplib.SMTP(*where, timeout=seconds)


def _context(settings: Settings) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if settings.smtp_ca is None else str(settings.smtp_ca))


def _log_in(server: smtplib.SMTP, user: str, password: str) -> None:
    try:
        server.login(user, password)
    except smtplib.SMTPNotSupportedError as error:
        raise smtplib.SMTPAuthenticationError(502, "it offers no login") from error


def _failed(error: Exception, settings: Settings) -> Outcome:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code, words = next(iter(error.recipients.values()))
        gone = code >= 500 and not _POLICY.match(words)
        return Outcome(code, absent(Reason.MAIL_ADDRESS_REFUSED, status=code) if gone else _by_code(code), pauses=gone)
    if isinstance(error, smtplib.SMTPResponseException):
        code = error.smtp_code
        refused = isinstance(error, smtplib.SMTPAuthenticationError) and code >= 500
        return Outcome(code, absent(Reason.MAIL_LOGIN_REFUSED, status=code) if refused else _by_code(code))
    return Outcome(None, _without_code(error, settings))


def _by_code(code: int) -> Absent:
    return absent(Reason.MAIL_DEFERRED if 400 <= code < 500 else Reason.MAIL_REFUSED, status=code)


def _without_code(error: Exception, settings: Settings) -> Absent:
    match error:
        case ssl.SSLError() | smtplib.SMTPNotSupportedError():
            return absent(Reason.MAIL_NOT_ENCRYPTED)
        case TimeoutError():
            return absent(Reason.MAIL_SLOW, seconds=settings.smtp_seconds)
        case smtplib.SMTPServerDisconnected() | ConnectionResetError() | BrokenPipeError():
            return absent(Reason.MAIL_BROKE_OFF)
    return absent(Reason.MAIL_NOT_CONNECTED)
