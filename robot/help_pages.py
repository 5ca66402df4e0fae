"""What `talkover COMMAND --help` shows below the options: examples to type, units, and what comes next."""

PROGRAM = """\
Without a robot:
  talkover demo                   one scene in a simulated room, to listen to and to look at
  talkover run                    talk to it yourself, at the keyboard
With a robot:
  talkover doctor                 what is connected, what is missing, and the command that mends it
  talkover config --default       the file of settings, every key explained
  talkover run --body device --config FILE

Each command explains itself: talkover COMMAND --help. Formats of files: docs/formats.md.
Exit status: 0 success, 1 the work itself failed, 2 the request was wrong (one line says what was expected).
"""

PAGES = {
    "run": """\
Examples:
  talkover run                               then type what you say, and Enter; /quit ends
  talkover run --for 60 --engine chat        a minute with a language model; [chat] url says where it is
""",
    "demo": """\
Examples:
  talkover demo
  talkover demo --seed 2 --out out/two --quiet
It plays about 90 s of life and prints each decision with its time (s) and cause. Exit status 1: a behaviour failed.
Next: talkover replay out/demo --verify, talkover run.
""",
    "hear": """\
Examples:
  talkover hear TAKE --out events.jsonl
  talkover hear TAKE --clean clean.wav --residual residual.wav
  talkover hear TAKE --set barge_in.stop_at=5
One JSON object a line: speech, duck, barge_in, release, direction. Times in s since the start of the take, azimuth in
rad, 0 straight ahead, positive to the left. A take and its events: docs/formats.md. Sound at 8 to 192 kHz is
resampled. Without a reference channel the robot counts as silent. What is odd about the take, and the health of its
microphones, goes to standard error. All settings: talkover config --explain mind.ears.
""",
    "see": """\
Examples:
  talkover see TAKE --out events.jsonl
One JSON object a line: face (where, how far in m, attention 0 to 1) and gesture (nod, shake, wave). Angles in rad, in
the robot's base axes; times in s. A take and its events: docs/formats.md.
""",
    "move": """\
Examples:
  printf '{"t":0.5,"look_at":{"azimuth_rad":0.8,"elevation_rad":0.1}}\\n{"t":3,"end":true}\\n' > look.jsonl
  talkover move look.jsonl --out look.csv
One JSON object a line, sorted by t (s): look_at, voice_from, mode, gesture, speech_wav, end. Angles in rad, azimuth
positive to the left. The CSV has a row each 10 ms: head, body and joints. All words: docs/formats.md.
""",
    "script": """\
Examples:
  talkover script polite.yaml --out out/polite
  talkover script tests/scenarios/quick/*.yaml --engine scripted --junit results.xml
  talkover script polite.yaml --repeat 5
Time is virtual: the same file and seed give the same result on every machine. `--engine scripted` understands every
word perfectly and is faster; `embedded` recognises speech. Exit status 1: an expectation failed; it is printed with
what happened instead. All words: docs/formats.md; an example: README.md.
""",
    "record": """\
Examples:
  talkover record out/talk --for 20
Everything that is heard and said is written; say so to the people in the room. A minute with sound takes about 22 MB.
Next: talkover replay out/talk --verify --events.
""",
    "replay": """\
Examples:
  talkover replay out/demo --verify
  talkover replay out/demo --events
The mind lives through the recorded inputs again. --verify compares every output; exit status 1 names the first tick
that differs. A tape of another version of the program may differ: what changed is then named.
""",
    "box": """\
Examples:
  talkover box "it did not look at me"
  talkover box --list
  sudo -u talkover /opt/talkover/current/bin/talkover box --state /var/lib/talkover "too loud"     (the service's)
What a box holds is set in [box]; without `sound` there is no sound, picture or word in it.
Next: talkover replay DIR --events, with the folder that was printed.
""",
    "forget": """\
Examples:
  talkover forget
  sudo -u talkover /opt/talkover/current/bin/talkover forget --state /var/lib/talkover     (the service's)
Boxes on the disk are deleted, the last minutes in memory are dropped, and a running robot forgets names and facts.
""",
    "bench": """\
Examples:
  talkover bench                              a tick's cost by stage; the last word to the first sound of an answer
  talkover bench --hearing --minutes 5        who is heard over the robot's voice and motors
  talkover bench --live 3                     in real time, on a sound server of its own (needs pulseaudio)
  talkover bench --bus                        the servo bus, emulated; set by real-time priority
Lengths: --minutes and --live in min, --bus in s, --faults and --soak in h. Each table names its units and counts.

What --hearing draws: every take has its own room, places, loudspeaker, gears, delay, levels and pitch of voices, from
seed and name; a longer draw begins with the shorter one. Tune on one seed, report another.
""",
    "config": """\
Examples:
  talkover config --default > talkover.toml
  talkover config --check talkover.toml
  talkover config --explain sound
  talkover config --explain servo_bus.loop.calm_s
Next: talkover run --config talkover.toml, or, for the service, sudo systemctl reload talkover.
""",
    "doctor": """\
Examples:
  talkover doctor --quick
  talkover doctor --config talkover.toml
  sudo /opt/talkover/current/bin/talkover doctor --config /etc/talkover/talkover.toml     (the service's)
ok: fine. note: works, with less. MISS: what this configuration needs is not there; exit status 1. The line below each
(->) is what mends it.
""",
}
