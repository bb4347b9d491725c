"""Random messages to a served process, with the right key: each is served, refused, or answered with an error.

    python -m tests.engine.debug.remote.fuzz CARD --messages 100000 --seed 7

A message is not JSON, or arbitrary JSON, or a request with wrong fields, with any buffers.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq

from hookscope.engine.debug.remote import Card, read_card

KINDS = (
    "hello",
    "status",
    "resume",
    "release",
    "hold",
    "abort",
    "evaluate",
    "captures",
    "parameters",
    "panel",
    "forms",
    "comm",
    "execute",
    "interrupt",
    "records",
    "nothing",
    "",
)
# Messages that would end the process, or run code that the sender is allowed to run, are left out.
HARMLESS = frozenset(KINDS) - {"interrupt", "execute", "hold", "abort"}


@dataclass
class Counted:
    """The numbers of messages and of answers."""

    sent: int = 0
    answers: int = 0


def _value(chance: random.Random, depth: int = 0) -> Any:
    simple: list[Callable[[], Any]] = [
        lambda: None,
        lambda: True,
        lambda: chance.randint(-(2**70), 2**70),
        lambda: chance.random() * 1e308,
        lambda: float("nan"),
        lambda: chance.choice(KINDS),
        lambda: "\0\u202e" * chance.randint(0, 5),
        lambda: "x" * chance.choice((0, 1, 5000)),
    ]
    if depth > 3 or chance.random() < 0.6:
        return chance.choice(simple)()
    if chance.random() < 0.5:
        return [_value(chance, depth + 1) for _ in range(chance.randint(0, 4))]
    return {str(_value(chance, 9)): _value(chance, depth + 1) for _ in range(chance.randint(0, 4))}


def _frames(chance: random.Random) -> list[bytes]:
    way = chance.random()
    buffers = [chance.randbytes(chance.choice((0, 1, 100))) for _ in range(chance.choice((0, 0, 1, 3)))]
    if way < 0.3:
        return [chance.randbytes(chance.choice((0, 1, 7, 300))), *buffers]
    if way < 0.45:
        text = json.dumps(_value(chance)).encode()
        return [text[: chance.randint(0, len(text))], *buffers]
    message = {"type": chance.choice(sorted(HARMLESS)), "id": chance.choice((1, 2.5, "x", None, -1, 2**80))}
    for name in ("number", "command", "comm_id", "kind", "data", "count", "first", "names", "step", "newest", "why"):
        if chance.random() < 0.4:
            message[name] = _value(chance)
    if message["type"] in ("evaluate", "panel"):  # a sender may do this: restrict it to plausible expressions
        message["expression"] = _value(chance, 9)
    return [json.dumps(message).encode(), *buffers]


def fuzz(card: Card, messages: int, seed: int) -> Counted:
    """Send this many messages; return the counts."""
    chance, counted = random.Random(seed), Counted()
    context = zmq.Context()
    dealer = context.socket(zmq.DEALER)
    dealer.curve_serverkey = card.server_key.encode()
    dealer.curve_publickey, dealer.curve_secretkey = card.client_key.encode(), card.client_secret.encode()
    dealer.connect(card.address)
    try:
        for _ in range(messages):
            dealer.send_multipart(_frames(chance))
            counted.sent += 1
            while dealer.poll(0):
                dealer.recv_multipart()
                counted.answers += 1
        while dealer.poll(500):
            dealer.recv_multipart()
            counted.answers += 1
    finally:
        context.destroy(linger=1000)
    return counted


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("card", type=Path)
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    print(fuzz(read_card(options.card), options.messages, options.seed))
