"""Words become sound once; bad words and files are refused with what was expected."""
import shutil

import numpy as np
import pytest
from scipy.io import wavfile

from robot.bodies.room import noises
from robot.bodies.room.voices import active_level, cache_folder, read_wav, spoken
from robot.errors import BadRequest

needs_flite = pytest.mark.skipif(shutil.which("flite") is None, reason="flite is not installed")
needs_espeak = pytest.mark.skipif(shutil.which("espeak-ng") is None, reason="espeak-ng is not installed")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@needs_flite
def test_words_are_spoken_once_and_kept():
    first = spoken("hello robot")
    (kept,) = cache_folder().glob("*.npy")
    stamp = kept.stat().st_mtime_ns
    assert np.array_equal(spoken("hello robot"), first) and kept.stat().st_mtime_ns == stamp
    assert 0.5 < len(first) / 16000 < 2.0 and np.abs(first).max() == pytest.approx(0.5)
    assert not first.flags.writeable


@needs_flite
def test_a_cut_cache_file_is_made_anew():
    first = spoken("hello robot")
    (kept,) = cache_folder().glob("*.npy")
    kept.write_bytes(kept.read_bytes()[:200])
    assert np.array_equal(spoken("hello robot"), first)


@needs_flite
def test_a_pause_has_its_length():
    joined, parts = spoken("one <0.8> two"), [spoken("one"), spoken("two")]
    assert len(joined) == sum(map(len, parts)) + round(0.8 * 16000)
    assert not joined[len(parts[0]):len(parts[0]) + 12800].any()


@needs_espeak
def test_espeak_speaks_too():
    assert len(spoken("--help me", "espeak")) > 5000


@pytest.mark.parametrize("text, voice, error", [
    ("hi", "bob", "anna: voice 'bob': expected one of: slt, rms"),
    ("one <much> two", "slt", "expected a pause in seconds such as <0.8>"),
    ("  ", "slt", "expected words to speak"),
    ("<0.5>", "slt", "expected words to speak"),
    ("a <99> b", "slt", "expected at most 30 s"),
])
def test_wrong_words_are_refused(text, voice, error):
    if voice == "slt" and shutil.which("flite") is None:
        pytest.skip("flite is not installed")
    with pytest.raises(BadRequest, match=error.replace("(", r"\(")):
        spoken(text, voice, "anna")


def test_a_missing_program_says_what_to_install(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadRequest, match="voice 'slt': the program flite is missing: apt-get install flite"):
        spoken("never said before")


def test_wav_files_of_any_rate_and_type(tmp_path):
    t = np.arange(44100) / 44100
    tone = np.sin(2 * np.pi * 440 * t) * 0.5
    for name, data in (("i16", (tone * 32767).astype(np.int16)), ("f32", tone.astype(np.float32)),
                       ("stereo", np.column_stack([tone, tone]).astype(np.float32)),
                       ("u8", (tone * 127 + 128).astype(np.uint8))):
        file = tmp_path / f"{name}.wav"
        wavfile.write(file, 44100, data)
        samples = read_wav(file)
        assert len(samples) == pytest.approx(16000, abs=2)
        assert np.argmax(np.abs(np.fft.rfft(samples))) == pytest.approx(440, abs=2)
        assert samples.std() == pytest.approx(0.5 / np.sqrt(2), rel=0.02)


def test_wrong_wav_files_are_refused(tmp_path):
    bad = np.zeros(1000, np.float32)
    bad[17] = np.nan
    wavfile.write(tmp_path / "nan.wav", 16000, bad)
    with pytest.raises(BadRequest, match=r"nan.wav: sample 17: expected a finite number, found nan"):
        read_wav(tmp_path / "nan.wav")
    (tmp_path / "text.wav").write_text("hello")
    with pytest.raises(BadRequest, match=r"text.wav: expected a WAV file"):
        read_wav(tmp_path / "text.wav")
    with pytest.raises(BadRequest, match=r"no.wav: expected a readable WAV file"):
        read_wav(tmp_path / "no.wav")
    wavfile.write(tmp_path / "empty.wav", 16000, np.zeros(0, np.int16))
    with pytest.raises(BadRequest, match=r"empty.wav: expected sound"):
        read_wav(tmp_path / "empty.wav")


def test_pauses_do_not_lower_the_active_level():
    rng = np.random.default_rng(1)
    words = rng.standard_normal(16000).astype(np.float32) * 0.1
    gapped = np.concatenate([words, np.zeros(48000, np.float32), words])
    assert active_level(gapped) == pytest.approx(active_level(words), rel=0.02)


@pytest.mark.parametrize("kind", ["knock", "cough", "music", "fan", pytest.param("babble", marks=needs_flite)])
def test_noises_have_their_length_and_level_and_repeat(kind):
    made = [noises.made(kind, 2.0, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert len(made[0]) == 32000 and active_level(made[0]) == pytest.approx(1.0, rel=1e-3)
    assert np.array_equal(made[0], made[1]) and not np.array_equal(made[0], made[2])


def test_a_sigh_is_breath_not_voice():
    breath = noises.sigh(np.random.default_rng(3))
    assert 1.0 < len(breath) / 16000 < 1.7
    spectrum = np.abs(np.fft.rfft(breath)) ** 2
    f = np.fft.rfftfreq(len(breath), 1 / 16000)
    assert spectrum[f < 200].sum() < 0.1 * spectrum.sum()
    frame = breath[4000:4000 + 4096]
    correlation = np.correlate(frame, frame, "full")[4096 + 40:4096 + 230] / (frame @ frame)
    assert correlation.max() < 0.4           # no pitch between 70 and 400 Hz
