"""The file of `talkover run --config`."""
import pytest

from robot.errors import BadRequest
from robot.live_config import LiveConfig, read_live_config


def test_without_a_file_everything_is_default():
    assert read_live_config(None) == LiveConfig()


def test_sections_fill_their_parts(tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('[mind]\nseed = 7\n[servo_bus]\ndevice = "/dev/servos"\n'
                    'loop = {deadman_s = 0.2}\n[room]\nbursts = 2\n')
    config = read_live_config(path)
    assert (config.mind.seed, config.servo_bus.device, config.servo_bus.loop.deadman_s) == (7, "/dev/servos", 0.2)
    assert config.room.bursts == 2 and config.servo_bus.bus == LiveConfig().servo_bus.bus


@pytest.mark.parametrize(("text", "named"), [
    ("[servobus]\n", "servo_bus"), ("mind = 3\n", "expected a section"), ("[servo_bus]\nport = 1\n", "port"),
    ("[servo_bus]\ndevice = 3\n", "expected a text"), ("[servo_bus.bus]\nwarm_c = inf\n", "finite"),
    ("[mind\n", "TOML"), ("[metrics]\nport = 99999\n", "0 to 65535"), ("[realtime]\nurl = 'http://x'\n", "wss://host"),
    ("[chat]\nurl = 'localhost:8080'\n", "http://host"), ("[minicpm]\nurl = 'wss://h:70000'\n", "out of range"),
    ("[sound]\nmicrophones = [0, 0, 1]\n", "each channel once"),
])
def test_what_is_wrong_is_named_with_its_file(tmp_path, text, named):
    path = tmp_path / "robot.toml"
    path.write_text(text)
    with pytest.raises(BadRequest, match=named) as refused:
        read_live_config(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadRequest, match="gone"):
        read_live_config(tmp_path / "gone.toml")
