"""Many requests at once, and nothing of them left behind."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    concurrency: int,
    done: Callable[[Result], object],
) -> None:
    """Call `work` on each item, at most `concurrency` at once, and `done` with each result.

    `done` is called in the caller's thread, as the results come. The first exception of `work`
    drops what has not been started; what is under way is waited for and handed to `done`, since it
    has reached the cluster, and then the exception is raised. None runs on when this returns: it
    would outlive the Lease.
    """
    failed = None
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        left: set[Future[Result]] = set()
        try:
            left.update(pool.submit(work, item) for item in items)
            for future in as_completed(tuple(left)):
                if future.exception() is not None:
                    failed = future
                    break
                left.remove(future)
                done(future.result())
        finally:
            pool.shutdown(cancel_futures=True)
    if failed is None:
        return
    for future in left:
        if not future.cancelled() and future.exception() is None:
            done(future.result())
    failed.result()
