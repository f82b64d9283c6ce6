"""`d2c serve`: a page and a JSON interface over HTTP, on this machine."""

from __future__ import annotations

import errno
import os
import socket
import sys
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from d2c.base.counting import many
from d2c.base.errors import needing
from d2c.base.model_files import digest_of_directory
from d2c.commands.options import FilePath, model_path, option_of
from d2c.commands.parse import default_model
from d2c.commands.terminal import say
from d2c.models.model import read_model_settings
from d2c.models.names import card_of
from d2c.parsing.options import ParseOptions
from d2c.serving.limits import MOST_TREES, ServeLimits
from d2c.training.warm_up import warmed_up_for

_PATIENCE = 5  # seconds that open requests have left once the server is to end
_CONNECTIONS = 500  # at once: uvicorn waits without limit for the rest of a request


@click.command()
@click.argument("model", required=False, type=FilePath, callback=model_path)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address or name to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="The port to listen on; 0: any free one.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="The number of processes that parse.",
)
@option_of(ServeLimits, "max_bytes")
@option_of(ServeLimits, "max_words")
@option_of(ServeLimits, "max_seconds")
@option_of(ServeLimits, "max_waiting")
@option_of(ParseOptions, "device")
@option_of(ParseOptions, "allow_pipeline")
def serve(model: Path | None, host: str, port: int, jobs: int, **chosen: Any) -> None:
    """Serve a page on which you type text and see its trees, and the parser as JSON over HTTP.

    MODEL is a directory, or a name that `d2c models` lists; it defaults to `en` (or `en-small`).

    POST /parse takes {"text": "They slept."} or {"sentences": [{"tokens": ["They", "slept"], "tags": ...,
    "require": [[0, 2, "S"]], "forbid": ...}]}, and with them "best": K for up to K trees of each sentence. It
    answers {"sentences": [...]}, with lines as `d2c parse --to json` writes them. GET /info says which model
    it is, GET /health whether it is ready. Errors are {"error": "..."}.

    A request above a limit is refused: 413 (too large), 503 (too many are waiting) or 504 (too slow).

    There are no passwords: anyone who can reach the address can use the server. Ctrl-C ends it.
    """
    with needing("serve", "serve"):
        import starlette  # noqa: F401 (of the extra, too)
        import uvicorn
    from d2c.serving.app import Site
    from d2c.serving.tasks import Service
    from d2c.serving.workers import Workers

    model = model or default_model()
    options = ParseOptions(**{name: chosen.pop(name) for name in ("device", "allow_pipeline")})
    limits = ServeLimits(**chosen)
    about = _about(model) | limits.to_json()
    _listening(host, port).close()  # a check: the port stays closed until requests are answered
    with warmed_up_for([read_model_settings(model)]):
        workers = Workers(Service(model, options, limits), jobs, say)
    try:
        with _listening(host, port) as listening:
            address, port = listening.getsockname()[:2]
            if not ip_address(address).is_loopback:
                say(f"d2c: {address} can be reached from other machines, and there are no passwords")
            application = Site(workers, host, about).application()
            config = uvicorn.Config(
                application,
                loop="asyncio",
                http="h11",
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=_PATIENCE,
            )
            shown = f"[{address}]" if ":" in address else address
            say(f"d2c: {about['name']} at http://{shown}:{port}/ ({many(jobs, 'process')}); Ctrl-C ends it")
            uvicorn.Server(config).run(sockets=[listening])
    finally:
        workers.close()


def _about(model: Path) -> dict[str, Any]:
    """Return what a server says of itself: the model with its card, versions, the most trees per sentence."""
    return {
        "name": model.resolve().name,
        "digest": digest_of_directory(model),
        "d2c": version("d2c-parser"),
        "python": sys.version.split()[0],
        "settings": read_model_settings(model).named(),
        "card": card_of(model),
        "most_trees": MOST_TREES,
    }


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises OSError that names the address."""
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:  # that of a look-up has numbers of its own
        why = error.strerror if isinstance(error, socket.gaierror) else os.strerror(error.errno or 0)
        raise OSError(error.errno, why, f"{host}:{port}") from None
    except UnicodeError:  # an empty part of a name, or one that is too long
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), f"{host}:{port}") from None
