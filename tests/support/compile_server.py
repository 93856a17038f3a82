"""A compile server on this machine, to which distcc sends preprocessed sources."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def compile_server() -> Iterator[tuple[str, Callable[[], str]]]:
    """Start a distccd on a port of this machine; give its address and its log of what it compiled."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    log.touch()
    log.chmod(0o666)
    command = ["distccd", "--no-detach", "--daemon", "--port", str(port), "--jobs", "1"]
    command += ["--listen", "127.0.0.1", "--allow", "127.0.0.1", "--log-file", str(log)]
    process = subprocess.Popen(command, cwd="/")
    try:
        for _ in range(100):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"127.0.0.1:{port}", log.read_text
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder)
