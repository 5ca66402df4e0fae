"""Who the robot is and how it speaks, by configuration."""
import numpy as np
import pytest

from dialogue.engines.plan import Plan, shortened
from dialogue.engines.voice import Voice
from dialogue.persona import PERSONAS, PersonaConfig, Style
from robot.engine_start import embedded
from robot.errors import BadRequest
from robot.live_config import LiveConfig, read_live_config
from tests.memory_bench import Words


def pitch_hz(sound):
    """Median over voiced frames of 50 ms of the strongest period between 90 and 400 Hz, by autocorrelation."""
    found, lags = [], np.arange(40, 180)
    for start in range(0, len(sound) - 800, 320):
        frame = sound[start:start + 800].astype(np.float64)
        likeness = np.fft.irfft(np.abs(np.fft.rfft(frame - frame.mean(), 1600)) ** 2)
        if frame.std() > 0.02 and likeness[lags].max() > 0.5 * likeness[0]:
            found.append(16000 / lags[np.argmax(likeness[lags])])
    return np.median(found)


def test_pace_and_pitch_are_heard_apart():
    voice, text = Voice(), "I am a small robot on a table."
    plain, slow, high = (voice(text, style) for style in (Style(), Style(pace=0.8), Style(pitch=1.2)))
    assert np.array_equal(plain, voice(text))
    assert len(slow) / len(plain) == pytest.approx(1.25, abs=0.12)
    assert len(high) / len(plain) == pytest.approx(1.0, abs=0.1)
    assert 1.1 < pitch_hz(high) / pitch_hz(plain) < 1.25
    assert 0.88 < pitch_hz(slow) / pitch_hz(plain) < 1.05          # the voice itself sinks a little when it is slow


@pytest.mark.parametrize(("text", "brief"), [
    ("One. Two. Three.", "One."), ("One. Two. Shall I?", "One. Shall I?"), ("One.", "One."), ("", ""),
])
def test_brief_is_the_first_sentence_and_what_it_asks(text, brief):
    assert shortened(Plan(text)).text == brief and shortened(Plan(text, whole=True)).text == text


def test_the_configuration_says_who_it_is(tmp_path):
    path = tmp_path / "robot.toml"
    path.write_text('[persona]\nwho = "otis"\nname = "Max"\ngreeting = "Yo{name}."\npitch = 1.1\nlength = "brief"\n')
    persona = read_live_config(path, {}).persona.persona()
    assert (persona.name, persona.style) == ("Max", Style(0.85, 1.1, "brief"))
    assert persona.greetings == ("Yo{name}.",) and persona.about == PERSONAS["otis"].about
    assert LiveConfig().persona.persona() == PERSONAS["robin"]
    engine = embedded(persona=PersonaConfig(who="pip")).engine
    assert engine.style == PERSONAS["pip"].style and "Pip" in engine._companion.persona.name


@pytest.mark.parametrize(("text", "named"), [
    ('who = "x"', "robin, otis, pip"), ("pace = 3.0", "pace: expected 0.7 to 1.4, found 3.0"),
    ("pitch = 0.1", "pitch: expected 0.8 to 1.25"), ('greeting = "{who}"', "expected a text with {name} at most"),
    ('greeting = "{"', "greeting"), ('length = "long"', "brief, normal"), ('greeting = "{0}"', "greeting"),
])
def test_what_is_wrong_is_named(tmp_path, text, named):
    path = tmp_path / "robot.toml"
    path.write_text(f"[persona]\n{text}\n")
    with pytest.raises(BadRequest) as refused:
        read_live_config(path, {})
    assert named in str(refused.value) and "persona" in str(refused.value)


@pytest.mark.parametrize(("words", "call"), [
    ("Talk slower please.", {"pace": "slower"}), ("Could you speak a bit faster?", {"pace": "faster"}),
    ("Speak normally.", {"pace": "normal"}), ("Be brief.", {"length": "brief"}),
    ("Be less brief.", {"length": "normal"}),
    ("I want to talk to Otis.", {"persona": "otis"}), ("Slower.", {"pace": "slower"}),
])
def test_ways_of_speaking_are_asked_for_in_words(words, call):
    talk = Words()
    talk.say(words)
    assert talk.calls == [("speak", call)] and talk.engine.spoken == [call]


@pytest.mark.parametrize(("words", "arguments"), [
    ("Set the volume to five.", {"percent": "50"}), ("Volume 8.", {"percent": "80"}),
    ("Set your volume to 55%.", {"percent": "55"}), ("Turn the volume to forty five percent", {"percent": "45"}),
    ("Set the volume to a hundred", {"percent": "100"}), ("Volume five percent.", {"percent": "5"}),
    ("Louder, please.", {"change": "20"}), ("You are too loud.", {"change": "-20"}), ("Speak up.", {"change": "20"}),
    ("Set the volume to zero.", {"percent": "0"}), ("Set the volume to ten, no, five.", {"percent": "50"}),
    ("Set the volume to ten. No, I meant five.", {"percent": "50"}),
    ("Set the volume to 10 - no, make it 5.", {"percent": "50"}),
])
def test_a_volume_in_words(words, arguments):
    talk = Words()
    talk.say(words)
    assert talk.calls == [("set_volume", arguments)]


@pytest.mark.parametrize("words", [
    "Set the volume to eleven hundred.", "Set the volume to green.", "The volume of the box.",
    "Set the volume to five thousand."])
def test_no_volume(words):
    talk = Words()
    talk.say(words)
    assert not talk.calls


def test_a_wish_is_put_right_in_the_next_turn():
    talk = Words()
    for words in ("Set the volume to ten.", "No, I meant five.", "Look left.", "Sorry, I meant right.",
                  "Bring me the red cup.", "No, I meant the blue one."):
        talk.say(words)
    assert [arguments for _, arguments in talk.calls] == [{"percent": "100"}, {"percent": "50"}, {"azimuth_deg": "60"},
                                                          {"azimuth_deg": "-60"}]
