"""macOS: sandbox-exec with a profile that leaves a script its own folders. Written after the profiles that browsers and
coding agents use; what it does not shut off on a given Mac, the probe finds out there."""

from collections.abc import Sequence

PROGRAM = "/usr/bin/sandbox-exec"
HOMES = ("/Users", "/Volumes", "/private/var/folders", "/private/tmp", "/private/etc/ssh")


def wrapped(command: Sequence[str], readable: Sequence[str], writable: Sequence[str]) -> list[str]:
    """The command inside the profile. Of two rules that fit, the later one holds."""
    rules = [
        "(version 1)",
        "(deny default)",
        "(allow process-exec process-fork sysctl-read ipc-posix-sem)",
        "(allow signal process-info* (target same-sandbox))",
        "(allow file-read*)",
        *(f"(deny file-read-data (subpath {_quoted(path)}))" for path in HOMES),
        *(f"(allow file-read* (subpath {_quoted(path)}))" for path in (*readable, *writable)),
        *(f"(allow file-write* (subpath {_quoted(path)}))" for path in writable),
    ]
    return [PROGRAM, "-p", "\n".join(rules), *command]


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
