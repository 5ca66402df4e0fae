"""What a Realtime server asks the robot to do: each call is answered once, and then the server goes on."""
from collections.abc import Mapping
from typing import Any

from dialogue.engine import Reply, ToolCall, ToolResult
from dialogue.engines.realtime import events
from dialogue.engines.realtime.answers import Answer, Responses
from dialogue.engines.tools import BadCall, checked_call


class ToolCalls:
    """The calls of a session's answers."""

    responses: Responses
    answers: dict[int, Answer]
    replies: list[Reply]

    def called(self, response: object, call: Mapping[str, Any]) -> None:
        """The server wants something done; the same call may be told in three events."""
        identity, name = str(call.get("call_id", "")), str(call.get("name", ""))
        answer = self.responses.owner.get(response) if isinstance(response, str) else None
        if answer is None or answer.dead or identity in answer.calls:
            return
        try:
            arguments = checked_call(name, str(call.get("arguments", "")))
        except BadCall as wrong:
            answer.calls[identity] = str(wrong)
            self.send(events.tool_result(identity, str(wrong)))
            return
        answer.calls[identity] = None
        self.replies.append(ToolCall(answer.generation, identity, name, arguments))

    def tool_result(self, request: ToolResult) -> None:
        for answer in self.answers.values():
            if request.call in answer.calls and answer.calls[request.call] is None:
                answer.calls[request.call] = request.result
                self.send(events.tool_result(request.call, request.result))
                self.tools_done(answer)

    def tools_done(self, answer: Answer) -> None:
        """Once the response is over and all its calls have results, the server goes on: asked once."""
        running = self.responses.active in answer.responses
        if answer.calls and not running and None not in answer.calls.values() and not answer.dead:
            answer.calls = {}
            self.enqueue(answer, "")

    # what the session does ------------------------------------------------------------------------------------------

    def send(self, *bodies: dict[str, Any], sound: bool = False) -> None: ...

    def enqueue(self, answer: Answer, instructions: str) -> None: ...
