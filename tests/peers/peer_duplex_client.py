"""vLLM-Omni's own duplex client against our fake of its server: is the fake right, so that tests against it mean much?

Run by `make peers`. The client's package is fetched without what it needs to serve a model, into .venv-duplex.
"""
import asyncio
import os
import subprocess
import sys
import types
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-duplex"
ALONE, NEEDED = ("vllm-omni==0.30.0",), ("websockets>=15", "pybase64", "numpy")
SECOND = bytes(32000)


def client_class():
    """The client alone: the package's own __init__ loads the whole server."""
    root = next(Path(path) / "vllm_omni" for path in sys.path if (Path(path) / "vllm_omni").is_dir())
    package = types.ModuleType("vllm_omni")
    package.__path__ = [str(root)]
    sys.modules["vllm_omni"] = package
    from vllm_omni.clients import duplex
    return duplex


async def talk(duplex, url: str) -> int:
    """Two replies, one of them cut; a drop in between."""
    checks = 0
    config = duplex.SessionConfig(overlap_policy="listen_only", playback_commit_policy="ack_only")
    async with duplex.DuplexClient(url, model="m", config=config) as client:
        for _ in range(3):
            await client.append_audio(SECOND)
        decisions = []
        async for response in client.responses():
            decisions.append(response.decision)
            if response.decision != "listen":
                break
        assert decisions == ["listen", "listen", "speak"], decisions
        await client.append_audio(SECOND)               # the drop is here: the client resumes by itself
        audio = b"".join([chunk async for chunk in response.audio()])
        assert len(audio) == 48000, len(audio)
        assert response.transcript == "I heard you very well.", response.transcript
        await client.ack_playback(400)
        checks += 4
        for _ in range(2):
            await client.append_audio(SECOND)
        async for response in client.responses():
            if response.decision != "listen":
                break
        await client.cancel_response(response.response_id)
        await response.wait(10.0)
        assert response.finished
        checks += 1
    return checks


def check() -> int:
    sys.path.insert(0, str(PROJECT))
    from tests.fake_duplex import Served
    duplex = client_class()
    served = Served(drops=(4,), plan=(3, 6))
    checks = asyncio.run(asyncio.wait_for(talk(duplex, served.url), 60))
    assert len(served.sessions) == 1 and len(served.paths) == 2, served.paths
    log = [event["type"] for event in served.sessions[0].log]
    assert "response.cancel" in log and "playback.ack" in log and "session.close" in log, log
    served.close()
    print(f"peer_duplex_client: vllm-omni's client talked with our fake, resumed and stopped: {checks + 2} checks")
    return 0


def main() -> int:
    if os.environ.get("TALKOVER_DUPLEX"):
        return check()
    python = HOME / "bin" / "python"
    if not (HOME / ".ready").exists():
        venv.create(HOME, with_pip=True)
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        for packages in (NEEDED, ("--no-deps", *ALONE)):
            if subprocess.run([*pip, *packages]).returncode:
                print(f"peer_duplex_client: skipped, pip has no {' '.join(packages)}")
                return 0
        (HOME / ".ready").touch()
    return subprocess.run([python, __file__], env={**os.environ, "TALKOVER_DUPLEX": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
