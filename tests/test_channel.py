"""Values between a parent and its child."""
import socket

from robot.channel import Channel


def pair() -> tuple[Channel, Channel]:
    ours, theirs = socket.socketpair()
    return Channel(ours), Channel(theirs)


def test_what_comes_with_the_first_value_waits_for_the_next_look():
    parent, child = pair()
    for value in ("setup", 5, 7):
        parent.send(value)
    assert child.first() == "setup"
    parent.send(9)
    assert child.receive() == [5, 7, 9] and child.receive() == []
    parent.connection.close()
    child.connection.close()


def test_a_parent_that_hung_up_says_nothing():
    parent, child = pair()
    parent.connection.close()
    assert child.first() is None
    child.connection.close()


def test_a_parent_that_said_it_and_died_was_heard():
    parent, child = pair()
    parent.send("setup")
    parent.connection.close()
    assert child.first() == "setup" and child.first() is None
    child.connection.close()
