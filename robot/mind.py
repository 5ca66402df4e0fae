"""The robot's mind: one tick, read top to bottom.

Everything the robot knows arrives in Inputs, everything it does leaves in Outputs. A tick never blocks, never reads a
clock, never sleeps and never logs.
"""
from dataclasses import dataclass, field

from dialogue.loop import Dialogue
from dialogue.touch import TouchReplies
from motion.mover import Mover
from motion.resting import Resting
from perception.audio.ears import Ears
from perception.people import People
from perception.pose_history import PoseHistory
from perception.vision.eyes import Eyes
from robot.service.sparing import Sparing
from robot.tick import Inputs, Outputs, Tick, health_events, refusals


@dataclass
class Mind:
    """Hears, sees, knows who is there, decides what to say and where to look, and moves: 100 times a second."""

    poses: PoseHistory
    ears: Ears
    eyes: Eyes
    people: People
    dialogue: Dialogue
    mover: Mover
    resting: Resting = field(default_factory=Resting)
    touch: TouchReplies = field(default_factory=TouchReplies)
    sparing: Sparing = field(default_factory=Sparing)
    _spoke: bool = field(default=False, init=False)     # the tick before handed sound to the loudspeaker

    def tick(self, inputs: Inputs) -> Tick:
        t = inputs.t
        pose = self.mover.head_pose(inputs.joints)
        poses = self.poses.add(pose.t, pose)
        sound = self.ears.step(inputs.audio, poses, self.mover.commanded_velocity, inputs.array, t, self._spoke)
        sight = self.eyes.step(t, inputs.faces, poses)
        seen = self.people.step(t, sound, sight)
        means = self.sparing.step(inputs, seen)
        if inputs.touches:
            self.dialogue.doing.wake()
        faced = None if self.resting.wished or means.lies else poses.at(t).yaw
        turn = means.spare(self.dialogue.step(t, seen, sight, sound, inputs.replies, len(inputs.audio), faced,
                                              inputs.parking, means.announces))
        if turn.speaker:
            self._spoke = bool(turn.spoken.any())
        felt, haptic = self.touch.step(t, inputs.touches, seen, turn.intent, sound.speech or sound.duck)
        intent = self.resting.step(felt, inputs.joints)
        goal = self.mover.step(t, intent, turn.spoken, inputs.joints)
        outputs = Outputs(goal, turn.speaker, turn.live_generation, turn.requests, haptic, means.camera_fps,
                          turn.volume)
        events = health_events(sound.health) + turn.events + refusals(t, self.mover.refused)
        return Tick(outputs, sound, sight, seen, intent, turn.floor, events)
