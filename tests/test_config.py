"""Configuration: every key is explained, refused by name when wrong, and set by file, environment or credential."""
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialogue.engines.secrets import secret
from robot.__main__ import main
from robot.config_keys import Key, explanations, keys_of, toml
from robot.config_text import default_file, explained
from robot.errors import BadRequest
from robot.live_config import MARK, LiveConfig, read_live_config

KEYS = list(keys_of(LiveConfig()))


def uncommented(text: str) -> str:
    """Every setting of the default file in force, but those that have no default."""
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if lines[number - 1].startswith("#     ") and not line.startswith("#     ") and not line.endswith(" ="):
            lines[number] = line.removeprefix("# ")
    return "\n".join(lines)


def test_every_key_says_what_it_is_for():
    silent = [key.name for key in KEYS if not key.reason]
    assert not silent, f"no comment beside, above or in the docstring of: {', '.join(silent)}"


def test_every_key_is_explained_with_its_default():
    text = explained()
    for key in KEYS:
        assert f"\n{key.name} = {'unset' if key.default is None else toml(key.default)[:100]}" in text


def test_the_default_file_gives_the_defaults_commented_or_not(tmp_path):
    path = tmp_path / "talkover.toml"
    path.write_text(default_file())
    assert read_live_config(path, {}) == LiveConfig()
    path.write_text(uncommented(default_file()))
    assert f"\nseed = {LiveConfig().mind.seed}\n" in path.read_text()
    assert read_live_config(path, {}) == LiveConfig()


def test_no_two_keys_share_a_variable():
    assert len({"_".join(key.path).upper() for key in KEYS}) == len(KEYS)


def test_comments_behind_above_below_and_in_the_docstring():
    @dataclass
    class Lamp:
        """A lamp. colour: K, of the light. It has no other."""

        power: float = 3.0          # W
        # s after the last motion;
        # cats do not count
        off_after: float = 60.0
        colour: int = 2700
        name: str = "a # b"         # what it answers to
                                    # when called
        odd: int = 0

    assert explanations(Lamp) == {"power": "W", "off_after": "s after the last motion; cats do not count",
                                  "colour": "K, of the light", "name": "what it answers to when called", "odd": ""}


def test_credential_over_environment_over_file(tmp_path):
    path = tmp_path / "talkover.toml"
    path.write_text('[servo_bus]\ndevice = "/dev/file"\nloop = {deadman_s = 0.2}\n[mind]\nseed = 2\n')
    environment = {"TALKOVER_SERVO_BUS_DEVICE": "/dev/environment", "TALKOVER_MIND_SEED": "3", "HOME": "/nowhere"}
    config = read_live_config(path, environment)
    assert (config.servo_bus.device, config.mind.seed, config.servo_bus.loop.deadman_s) == ("/dev/environment", 3, 0.2)
    (tmp_path / "talkover_servo_bus_device").write_text("/dev/credential\n")
    (tmp_path / "somebody_else").write_text("not ours")
    config = read_live_config(path, environment | {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert (config.servo_bus.device, config.mind.seed) == ("/dev/credential", 3)


@pytest.mark.parametrize(("variable", "value", "named"), [
    ("TALKOVER_MIND_SED", "3", "did you mean 'MIND_SEED'"), ("TALKOVER_MIND_SEED", "three", "a whole number"),
    ("TALKOVER_ROOM_REGISTER", "3", "true or false"), ("TALKOVER_RUN_BODY", "duck", "simulated"),
    ("TALKOVER_X", "", "--explain"),
])
def test_a_wrong_variable_is_named(variable, value, named):
    with pytest.raises(BadRequest, match=named) as refused:
        read_live_config(None, {variable: value})
    assert variable in str(refused.value)


def test_a_wrong_credential_is_named_without_its_content(tmp_path):
    (tmp_path / "talkover_mind_key").write_text("secret")
    with pytest.raises(BadRequest, match="talkover_mind_key") as refused:
        read_live_config(None, {"CREDENTIALS_DIRECTORY": str(tmp_path)})
    assert "secret" not in str(refused.value)


WRONG = {
    "": "is empty", "\n  \n": "is empty", "version = 2\n": "version", 'version = "1"\n': "version",
    "[mind]\nsede = 1\n": "'seed'", "[mind.eers]\n": "'eyes'", "[log]\nlevel = 'loud'\n": "log.level",
    "[run]\nbody =\n": "line 2", "\x00\x00": "TOML",
}


@pytest.mark.parametrize(("text", "named"), WRONG.items())
def test_a_bad_file_ends_with_status_2_and_stays_as_it_is(tmp_path, capsys, text, named):
    path = tmp_path / "talkover.toml"
    path.write_text(text)
    assert main(["config", "--check", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(path) in said and named in said
    assert path.read_text() == text


@settings(deadline=None, max_examples=30, derandomize=True)
@given(st.integers(0, 10**6))
def test_a_half_written_default_file_is_refused_wherever_it_ends(tmp_path_factory, place):
    """Field log F64."""
    text = uncommented(default_file())
    path = tmp_path_factory.getbasetemp() / "half.toml"
    path.write_text(text[:max(place % (len(text) - 7), len(MARK) + 1)])
    with pytest.raises(BadRequest, match="expected"):
        read_live_config(path, {})


def test_a_section_inside_another_starts_from_the_outer_default():
    from robot.bodies.daemon_link import LinkSettings
    from robot.settings import filled
    link = filled(LinkSettings, {"follow": {"calm_s": 9.0}}, "daemon")
    assert (link.follow.calm_s, link.follow.lost_s) == (9.0, LinkSettings().follow.lost_s)


def test_explain_names_the_nearest_section(capsys):
    assert main(["config", "--explain", "servobus"]) == 2
    assert "'servo_bus'" in capsys.readouterr().err
    assert main(["config", "--explain", "servo_bus.loop.deadman_s"]) == 0
    assert "0.1" in capsys.readouterr().out


def test_check_names_the_keys_that_are_set_but_not_their_values(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TALKOVER_SERVO_BUS_DEVICE", "/dev/secret")
    path = tmp_path / "talkover.toml"
    path.write_text("[mind]\nseed = 12345\n")
    assert main(["config", "--check", str(path)]) == 0
    said = capsys.readouterr().out
    assert "mind.seed" in said and "servo_bus.device" in said and "12345" not in said and "secret" not in said


def test_a_key_knows_its_unit():
    units: dict[str, Key] = {key.name: key for key in KEYS}
    assert units["servo_bus.loop.deadman_s"].kind == "number, s"
    assert units["mind.playback_delay_s"].kind == "number or unset, s"


def test_the_program_writes_the_default_file():
    done = subprocess.run([sys.executable, "-m", "robot", "config", "--default"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == default_file()


def test_the_key_of_a_service_may_lie_among_the_credentials_of_the_service(tmp_path):
    """systemd puts `talkover_` before the name of each file of the folder (LoadCredential of the unit)."""
    (tmp_path / "talkover_openai_api_key").write_text("a key\n")
    (tmp_path / "talkover_mind_seed").write_text("5\n")
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    config = read_live_config(None, environment)
    assert config.mind.seed == 5 and secret(config.realtime.key_from, environment) == "a key"
    (tmp_path / "talkover_openai_apikey").write_text("a key\n")
    with pytest.raises(BadRequest, match="sets no known key"):
        read_live_config(None, environment)
