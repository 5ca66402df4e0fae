"""A user-mode PulseAudio that looks like a robot's sound card: four microphones, a loudspeaker, its echo line.

For machines without sound hardware (kernels without snd-aloop included). A six-channel null sink is the air: whatever
plays the room plays into its first four channels (`room`), the robot's loudspeaker is the fifth. `array` records the
microphones and the loudspeaker in one stream, as arrays with a loopback channel do; `voice` records the loudspeaker
alone. The server is private: a folder, no D-Bus, nothing of the user's own sound is touched.
"""
import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

PLACES = ("front-left", "front-right", "rear-left", "rear-right", "front-center", "lfe")   # aux0... is ignored by ALSA
MICROPHONES = ",".join(PLACES[:4])
DEVICES = ("array", "loudspeaker", "room", "voice")
STARTS_S = 20.0            # on a busy machine; a server that takes longer does not come
PROGRAMS = {"pulseaudio": "pulseaudio", "pactl": "pulseaudio-utils"}


def missing() -> str | None:
    """What has to be installed before a rig can start; None: nothing."""
    packages = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if not any(Path("/usr/lib").glob("*/alsa-lib/libasound_module_pcm_pulse.so")):
        packages.append("libasound2-plugins")
    return f"apt-get install -y --no-install-recommends {' '.join(packages)}" if packages else None


@dataclass
class PulseRig:
    """One private server in `folder`. `start` it, give `environment` to the programs that shall hear it, `close` it."""

    folder: Path
    rate_hz: int = 16000
    _server: subprocess.Popen | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.folder = self.folder.resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "rig.pa").write_text(self._script(), encoding="utf-8")
        (self.folder / "asound.conf").write_text(self._alsa(), encoding="utf-8")

    @property
    def socket(self) -> Path:
        return self.folder / "pulse.sock"

    @property
    def environment(self) -> dict[str, str]:
        """Variables over os.environ with which a program sees the rig's devices only."""
        return {"PULSE_SERVER": f"unix:{self.socket}", "ALSA_CONFIG_PATH": str(self.folder / "asound.conf"),
                "JACK_NO_START_SERVER": "1", "PULSE_RUNTIME_PATH": str(self.folder), "PULSE_COOKIE":
                str(self.folder / "cookie")}

    def start(self) -> "PulseRig":
        """The server, ready to be used."""
        # The server stands for hardware, which is on time: real time where allowed, with PulseAudio's own limit to it.
        command = ["pulseaudio", "-n", "-F", str(self.folder / "rig.pa"), "--daemonize=no",
                   "--use-pid-file=no", "--exit-idle-time=-1", "--realtime=yes", "--high-priority=yes",
                   "--disable-shm=yes"]
        own = {"XDG_RUNTIME_DIR": str(self.folder), "HOME": str(self.folder), "PULSE_RUNTIME_PATH": str(self.folder)}
        log = (self.folder / "pulse.log").open("ab")
        self._server = subprocess.Popen(command, env=_over(own, without=("DBUS_SESSION_BUS_ADDRESS", "PULSE_SERVER")),
                                        stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        end = time.monotonic() + STARTS_S
        while self._control("info").returncode:
            if self._server.poll() is not None or time.monotonic() > end:
                raise ChildProcessError(f"pulseaudio did not start: {self.folder / 'pulse.log'}")
            time.sleep(0.05)
        return self

    def suspend(self, device: str, quiet: bool) -> None:
        """The device stops (or goes on) without a word, as a sound card that hangs does."""
        kind = "source" if device in ("array", "voice") else "sink"
        self.control(f"suspend-{kind}", device, str(int(quiet)))

    def control(self, *words: str) -> str:
        """A command of pactl; its output."""
        done = self._control(*words)
        if done.returncode:
            raise ChildProcessError(f"pactl {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def kill(self) -> None:
        """The server dies at once."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()
            self._server = None
        self.socket.unlink(missing_ok=True)

    def close(self) -> None:
        if self._server is not None:
            self._server.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._server.wait(5.0)
        self.kill()

    def _control(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["pactl", *words], env=_over(self.environment), capture_output=True, text=True,
                              timeout=30)

    def _script(self) -> str:
        air = f"rate={self.rate_hz} format=s16le"
        remap = "remix=no"
        return "\n".join((
            f"load-module module-native-protocol-unix auth-anonymous=1 socket={self.socket}",
            f"load-module module-null-sink sink_name=air {air} norewinds=1 channels=6 channel_map={','.join(PLACES)}",
            f"load-module module-remap-sink sink_name=room master=air {remap} channels=4 channel_map={MICROPHONES} "
            f"master_channel_map={MICROPHONES}",
            f"load-module module-remap-sink sink_name=loudspeaker master=air {remap} channels=1 channel_map=mono "
            "master_channel_map=front-center",
            f"load-module module-remap-source source_name=array master=air.monitor {remap} channels=5 "
            f"channel_map={MICROPHONES},front-center master_channel_map={MICROPHONES},front-center",
            f"load-module module-remap-source source_name=voice master=air.monitor {remap} channels=1 channel_map=mono "
            "master_channel_map=front-center",
            "set-default-source voice", "set-default-sink loudspeaker", ""))

    def _alsa(self) -> str:
        parts = ["pcm.unplugged { type hw card 31 }\n"]      # PortAudio 19.6 asserts that some device cannot be opened
        for device in DEVICES:
            parts.append(f'pcm.rig_{device} {{ type pulse server "unix:{self.socket}" device "{device}" }}\n'
                         f'ctl.rig_{device} {{ type pulse server "unix:{self.socket}" device "{device}" }}\n')
        return "".join(parts)


def _over(values: Mapping[str, str], without: tuple[str, ...] = ()) -> dict[str, str]:
    """This process's environment with `values` over it."""
    return {**{key: value for key, value in os.environ.items() if key not in without}, **values}
