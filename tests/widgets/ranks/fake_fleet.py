"""Ranks without processes: each answers at once with prepared values, unless it is busy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from hookscope.engine.debug.compare.ranks import RankFinding


class FakeRank:
    """One rank: its status, its values by name, and the requests that it got."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.remote = self
        self.gone = ""
        self.status: dict[str, Any] = {
            "state": "idle",
            "step": 3,
            "captured": 9,
            "loss": 0.5,
            "place": "",
            "reason": "",
        }
        self.captures = {"conv#0 forward output": row(), "relu#0 forward output": row()}
        self.parameters = {"conv.weight": row(), "conv.bias": row()}
        self.names: dict[str, Any] = {"loss": 0.12}
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.busy_with: set[str] = set()
        self._waiting: list[tuple[Future[Any], str, dict[str, Any]]] = []

    def ask(self, kind: str, **fields: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        self.requests.append((kind, fields))
        self._waiting.append((answer, kind, fields))
        self.work()
        return answer

    def work(self) -> None:
        """Answer waiting requests, except those that it is too busy for."""
        for item in list(self._waiting):
            answer, kind, fields = item
            if kind in self.busy_with:
                continue
            self._waiting.remove(item)
            try:
                answer.set_result(getattr(self, f"_{kind}")(**fields))
            except Exception as error:
                answer.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.requests]

    def _status(self) -> dict[str, Any]:
        return dict(self.status)

    def _evaluate(self, expression: str) -> dict[str, Any]:
        return {"text": repr(value := eval(expression, dict(self.names))), "short": str(value)}

    def _captures(self, step: int, bits: bool, **fields: Any) -> dict[str, Any]:
        return {**self._page(self.captures, "key", bits, **fields), "steps": (1, self.status["step"])}

    def _parameters(self, bits: bool, **fields: Any) -> dict[str, Any]:
        return self._page(self.parameters, "name", bits, **fields)

    def _page(
        self, values: Mapping[str, dict[str, Any]], name: str, bits: bool, after: Any, text: str, count: int
    ) -> dict[str, Any]:
        rows = [
            {**value, name: key, "place": [key]}
            for key, value in sorted(values.items())
            if all(word in key for word in text.split())
        ]
        page = [row for row in rows if after is None or row["place"] > after][:count]
        if not bits:
            page = [{field: value for field, value in item.items() if field != "bits"} for item in page]
        return {"total": len(rows), "rows": page}

    def _panel(self, of: str, open: bool = True) -> dict[str, Any]:
        return {"model": f"panel of {self.rank}"} if open else {}


class FakeFleet:
    def __init__(self, count: int) -> None:
        self.ranks = {rank: FakeRank(rank) for rank in range(count)}
        self.found: list[RankFinding] = []
        self.commands: list[str] = []
        self.observers: list[Callable[[], None]] = []

    @property
    def living(self) -> list[FakeRank]:
        return [rank for rank in self.ranks.values() if not rank.gone]

    def findings(self) -> list[RankFinding]:
        return self.found

    def observe(self, callback: Callable[[], None]) -> Callable[[], None]:
        self.observers.append(callback)
        return lambda: self.observers.remove(callback)

    def ask(self, kind: str, /, ranks: Iterable[int] | None = None, **fields: Any) -> dict[int, Future[Any]]:
        chosen = [rank.rank for rank in self.living] if ranks is None else ranks
        return {rank: self.ranks[rank].ask(kind, **fields) for rank in chosen}

    def resume(self, command: str = "continue", ranks: Iterable[int] | None = None) -> None:
        self.commands.append(command)

    def abort(self) -> None:
        self.commands.append("abort")

    def interrupt(self) -> None:
        self.commands.append("interrupt")

    def tell(self) -> None:
        """Notify the observers that a rank has paused, continued or ended."""
        for callback in list(self.observers):
            callback()

    def pause(self, rank: int) -> None:
        for item in self.living:
            item.status |= {"state": "held", "reason": f"rank {rank} is paused"}
        self.ranks[rank].status |= {"state": "paused", "place": "forward of relu, line 15", "reason": "breakpoint relu"}
        self.tell()


def row(**fields: Any) -> dict[str, Any]:
    """Return a value's row; all have the same bits by default."""
    plain = dict.fromkeys(("minimum", "maximum", "mean", "std", "norm"), 0.25)
    counts = dict.fromkeys(("nan", "positive_inf", "negative_inf"), 0.0)
    return {"shape": [2, 3], "dtype": "float32", "bits": "a", **plain, **counts, **fields}
