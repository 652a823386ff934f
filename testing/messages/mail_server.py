"""A mail server on this machine: it records messages, and answers as configured, under a certificate of its own."""

import asyncio
import logging
import threading
from asyncio import WriteTransport
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from ssl import Purpose, SSLContext, create_default_context
from typing import Any, Literal

import trustme
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from runtime.settings import Settings

logging.getLogger("mail.log").setLevel(logging.CRITICAL)  # it logs what a sender does on purpose

USER, PASSWORD = "freshet", "hush"
SENDER, PUBLIC_URL = "alerts@rivers.example", "https://rivers.example"
Answer = Literal[
    "take", "defer", "refuse", "no address", "unclear", "no room", "by policy", "closing", "full", "drop", "die"
]
"""`die`: the message is taken, and the connection is broken off before the answer."""
_AT_RCPT = {
    "defer": "451 4.7.1 Try again later",
    "no address": "550 5.1.1 No such person",
    "unclear": "550 No such person",
    "no room": "552 5.2.2 Full",
    "by policy": "554 5.7.1 Not from you",
    "closing": "421 4.3.2 Closing",
    "full": "452 4.3.1 No room here",
    "drop": "421 Bye",
}


@dataclass(frozen=True, slots=True)
class Mail:
    """A message that was taken, and whether its sender learnt of it."""

    recipient: str
    content: bytes
    answer: Answer

    @property
    def message(self) -> EmailMessage:
        """The message."""
        return message_from_bytes(self.content, policy=default)


@dataclass
class MailServer:
    """A server that records messages.

    Attributes:
        answers: gives the answer to a recipient.
        security: as the setting.
        of_sender: the answer to the sender's address.
        ca: file with the certificate that its own is checked against.
    """

    answers: Callable[[str], Answer] = lambda _recipient: "take"
    security: Literal["starttls", "tls", "none"] = "starttls"
    of_sender: str = "250 OK"
    ca: Path | None = None
    port: int = 0
    mails: list[Mail] = field(default_factory=list)
    on_mail: Callable[[Mail], None] = lambda _mail: None

    def settings(self, data: Path, **chosen: Any) -> Settings:
        """Return settings that send by this server."""
        values: dict[str, Any] = {
            "data": data,
            "smtp_host": "127.0.0.1",
            "smtp_port": self.port,
            "smtp_security": self.security,
            "smtp_ca": self.ca,
            "smtp_user": USER,
            "smtp_password": PASSWORD,
            "smtp_seconds": 10,
            "mail_from": SENDER,
            "public_url": PUBLIC_URL,
        }
        return Settings(**values | chosen)

    async def handle_MAIL(  # noqa: N802 - the library's name
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self.of_sender

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        answer = self.answers(address)
        if answer == "drop":
            _break_off(server)
        if answer in _AT_RCPT:
            return _AT_RCPT[answer]
        envelope.rcpt_tos.append(address)
        session.answer = answer  # type: ignore[attr-defined]
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope
    ) -> str:
        answer: Answer = session.answer  # type: ignore[attr-defined]
        if answer == "refuse":
            return "554 5.6.0 Not this message"
        assert isinstance(envelope.content, bytes)
        mail = Mail(envelope.rcpt_tos[0], envelope.content, answer)
        self.mails.append(mail)
        self.on_mail(mail)
        if answer == "die":
            _break_off(server)
        return "250 OK"


@contextmanager
def serving_mail(server: MailServer, folder: Path) -> Iterator[MailServer]:
    """Run a mail server until the block ends.

    Args:
        folder: for the certificate of its maker.
    """
    context = _certified(server, folder)
    loop = asyncio.new_event_loop()

    def protocol() -> SMTP:
        return SMTP(
            server,
            hostname="mail.example",
            tls_context=context if server.security == "starttls" else None,
            require_starttls=server.security == "starttls",
            authenticator=_check,
            auth_required=server.security == "starttls",
            auth_require_tls=server.security == "starttls",
            loop=loop,
        )

    of_tls = context if server.security == "tls" else None
    listener = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", server.port, ssl=of_tls))
    server.port = listener.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(listener.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


def _certified(server: MailServer, folder: Path) -> SSLContext:
    authority = trustme.CA()
    server.ca = folder / "mail-ca.pem"
    authority.cert_pem.write_to_path(str(server.ca))
    context = create_default_context(Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context


def _check(_server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, login: Any) -> AuthResult:
    good = isinstance(login, LoginPassword) and (login.login, login.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=good, handled=False)


def _break_off(server: SMTP) -> None:
    assert isinstance(server.transport, WriteTransport)
    server.transport.abort()
