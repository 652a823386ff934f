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
READY = 220
_ENHANCED = re.compile(rb"5\.\d{1,3}\.\d{1,3}(?!\d)")
_GONE = re.compile(rb"5\.(1\.([0-6]|10)|2\.1)(?!\d)")
"""Enhanced status codes of an address that is wrong or disabled [RFC 3463, RFC 7505]. Others concern the message, its
sender, or a mailbox that is full, and may be over tomorrow."""
_OF_MAILBOX = re.compile(rb"5\.2\.")
_NO_SUCH_ADDRESS = (550, 553)
_NOT_OF_ADDRESS = (530, 552)
"""No login, and no room: they never mean that the address is not there."""


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
        server = _server(settings)
        _connect(server, settings)
        if slow.is_set():  # it was connected too late to be cut off
            raise TimeoutError
        if settings.smtp_security == "starttls":
            server.starttls(context=_context(settings))
        if settings.smtp_user is not None:
            _log_in(server, settings.smtp_user, settings.smtp_password or "")
        if slow.is_set():  # another sender may have it by now
            raise TimeoutError
        server.sendmail(settings.mail_from, [recipient], message)
        with suppress(smtplib.SMTPException, OSError):
            server.quit()
    except (smtplib.SMTPException, OSError, ValueError) as error:  # ValueError: what cannot be written in ASCII
        if slow.is_set():
            return Outcome(None, absent(Reason.MAIL_SLOW, seconds=settings.smtp_seconds))
        return _failed(error, settings)
    finally:
        timer.cancel()
        if server is not None:
            server.close()
    return Outcome(ACCEPTED)


def _server(settings: Settings) -> smtplib.SMTP:
    """Return the mail server, not connected yet, so that its connection can be cut off from the first byte."""
    assert settings.smtp_host is not None
    assert settings.mail_from is not None
    here, seconds = settings.mail_from.rpartition("@")[2], settings.smtp_seconds
    server = (
        smtplib.SMTP_SSL(local_hostname=here, timeout=seconds, context=_context(settings))
        if settings.smtp_security == "tls"
        else smtplib.SMTP(local_hostname=here, timeout=seconds)
    )
    # The name that its certificate is checked against, which smtplib takes from a host given above alone.
    server._host = settings.smtp_host  # type: ignore[attr-defined]
    return server


def _connect(server: smtplib.SMTP, settings: Settings) -> None:
    assert settings.smtp_host is not None
    code, words = server.connect(settings.smtp_host, settings.smtp_port)
    if code != READY:
        raise smtplib.SMTPConnectError(code, words)


def _context(settings: Settings) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if settings.smtp_ca is None else str(settings.smtp_ca))


def _log_in(server: smtplib.SMTP, user: str, password: str) -> None:
    try:
        server.login(user, password)
    except smtplib.SMTPNotSupportedError as error:
        raise smtplib.SMTPAuthenticationError(502, "it offers no login") from error


def _failed(error: Exception, settings: Settings) -> Outcome:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return _refused(*next(iter(error.recipients.values())))
    if isinstance(error, smtplib.SMTPResponseException):
        code = error.smtp_code
        refused = isinstance(error, smtplib.SMTPAuthenticationError) and code >= 500
        return Outcome(code, absent(Reason.MAIL_LOGIN_REFUSED, status=code) if refused else _by_code(code))
    return Outcome(None, _without_code(error, settings))


def _refused(code: int, words: bytes) -> Outcome:
    """Return the outcome of a refused recipient."""
    refused = absent(Reason.MAIL_ADDRESS_REFUSED, status=code)
    if code < 500 or code in _NOT_OF_ADDRESS or (_ENHANCED.match(words) and not _GONE.match(words)):
        of_mailbox = code == 552 or (code >= 500 and _OF_MAILBOX.match(words))
        return Outcome(code, refused if of_mailbox else _by_code(code))
    if _GONE.match(words):
        return Outcome(code, refused, pauses="at once")
    if code in _NO_SUCH_ADDRESS:
        return Outcome(code, refused, pauses="at the end")
    return Outcome(code, _by_code(code))


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
