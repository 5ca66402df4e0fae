"""The address of a server, checked before anything is sent there."""
from ipaddress import ip_address
from urllib.parse import urlsplit


def checked_url(url: str, schemes: tuple[str, ...]) -> str:
    """`url` where it names a host by one of `schemes`. ValueError says what was expected."""
    expected = " or ".join(f"{scheme}://host..." for scheme in schemes)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port       # the port is only looked at when it is asked for
    except ValueError as error:
        raise ValueError(f"url: {error}, expected {expected}, found {url!r}") from error
    if parts.scheme not in schemes or not host:
        raise ValueError(f"url: expected {expected}, found {url!r}")
    return url


def on_this_machine(url: str) -> bool:
    """The server of `url` takes its processor from the robot."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
