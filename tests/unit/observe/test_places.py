"""The places in a queue that has more in it than Kueue tells at once."""

import pytest
from unit.cluster.api_server import Answer, Handle, Object, Request, serve

from converter.observe import places
from converter.observe.places import PAGE, read_places


def pending(number: int) -> Object:
    position = {"positionInLocalQueue": number, "positionInClusterQueue": 2 * number}
    return {"metadata": {"name": f"w{number}"}, "priority": 0, **position}


def queue(length: int, takes_offset: bool = True) -> tuple[list[dict[str, str]], Handle]:
    """What was asked of a queue of this length, and the server that answers for it."""
    asked: list[dict[str, str]] = []

    def handle(request: Request) -> Answer:
        asked.append(request.query)
        limit = int(request.query.get("limit", "1000"))
        first = int(request.query.get("offset", "0")) if takes_offset else 0
        numbers = range(first, min(length, first + limit))
        return Answer(200, {"items": [pending(number) for number in numbers]})

    return asked, handle


@pytest.mark.parametrize(
    ("length", "requests"), [(0, 1), (1, 1), (999, 1), (1000, 2), (1001, 2), (2500, 3)]
)
def test_every_place_is_read_however_many_wait(length: int, requests: int) -> None:
    asked, handle = queue(length)
    with serve(handle) as api:
        found = read_places(api.client(), "n", "q")
    assert (len(found.found), found.unread, len(asked)) == (length, "", requests)
    if length:
        last = found.found[f"w{length - 1}"]
        assert (last.in_local_queue, last.in_cluster_queue) == (length, 2 * length - 1)
        assert len(last.ahead) == length - 1
        assert last.others == length - 1


def test_a_server_that_begins_again_each_time_is_not_asked_for_ever() -> None:
    asked, handle = queue(PAGE, takes_offset=False)
    with serve(handle) as api:
        found = read_places(api.client(), "n", "q")
    assert (len(found.found), len(asked)) == (PAGE, 2)


def test_one_that_has_moved_up_between_two_pages_is_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(places, "PAGE", 2)
    pages = [[pending(0), pending(1)], [pending(1), pending(2)], []]
    with serve(lambda request: Answer(200, {"items": pages.pop(0)})) as api:
        found = read_places(api.client(), "n", "q")
    assert [found.found[each].in_local_queue for each in ("w0", "w1", "w2")] == [1, 2, 3]
