"""A typed client of the HTTP API of Avocet.

>>> from avocet_client import Avocet
>>> avocet = Avocet("http://127.0.0.1:8321")
>>> [hit.url for hit in avocet.search("install package")]  # doctest: +SKIP
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

__all__ = ["Avocet", "AvocetError", "Answer", "Change", "Hit", "Page", "Site"]

JsonObject = dict[str, Any]
ChangeKind = Literal["new", "changed", "gone"]
Report = Literal[
    "broken-links",
    "sitemap-only",
    "duplicates",
    "slow-servers",
    "top-searches",
    "searches-without-result",
    "searches-without-click",
]

# Requests that the rate limit refused are repeated this many times.
_REPEATS = 3
# Longest wait for the rate limit in seconds.
_LONGEST_WAIT = 60.0


class AvocetError(Exception):
    """An answer of the server that is an error."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(f"{status} {reason}: {message}")
        self.status = status
        """The HTTP status."""
        self.reason = reason
        """A stable code for programs, such as ``parameter`` or ``token``."""
        self.message = message
        """The message for people."""


@dataclass(frozen=True)
class Hit:
    """One result of a search."""

    rank: int
    url: str
    title: str
    snippet: str
    score: float
    fetched_at: str
    language: str | None = None
    type: str | None = None
    checked_at: str | None = None
    changes_every_hours: float | None = None
    section: JsonObject | None = None
    duplicates: Sequence[str] = ()
    missing: Sequence[str] = ()
    fields: JsonObject | None = None


@dataclass(frozen=True)
class Answer:
    """The results of a search. Iterating over it gives the hits."""

    query: str
    total: int
    relaxed: bool
    corrected: str | None
    did_you_mean: str | None
    hits: Sequence[Hit]
    facets: JsonObject | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True)
class Page:
    """A page of the store with its text."""

    url: str
    title: str
    text: str
    markdown: str | None = None
    language: str | None = None
    fetched_at: str | None = None
    checked_at: str | None = None
    changes_every_hours: float | None = None
    extraction: str | None = None
    extraction_reason: str | None = None
    sections: Sequence[JsonObject] = ()
    section: JsonObject | None = None


@dataclass(frozen=True)
class Change:
    """A change of a page: new, changed or gone."""

    number: int
    at: str
    change: ChangeKind
    url: str
    status: int | None = None
    title: str | None = None


@dataclass(frozen=True)
class Site:
    """A site of the store: the pages of one host name and port."""

    host: str
    urls: int
    pages: int
    searchable: int
    waiting: int
    errors: int
    gone: int
    freshness: float | None = None
    last_request: str | None = None
    last_change: str | None = None


_T = TypeVar("_T")


def _read(kind: type[_T], body: JsonObject) -> _T:
    """Makes a value of the fields that it knows: a newer server may send more."""
    known = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in body.items() if name in known})


class Avocet:
    """A server of Avocet."""

    def __init__(
        self, address: str = "http://127.0.0.1:8321", *, token: str | None = None, timeout: float = 60.0
    ) -> None:
        """``token`` is the operator token of the store, which controls and reports need."""
        self._address = address.rstrip("/")
        self._token = token
        self._timeout = timeout

    # Search and pages

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        offset: int = 0,
        site: str | None = None,
        language: str | None = None,
        topic: str | None = None,
        since: str | None = None,
        until: str | None = None,
        published_since: str | None = None,
        published_until: str | None = None,
        type: str | None = None,
        sort: Literal["relevance", "newest"] | None = None,
        facets: bool | None = None,
        log: bool | None = None,
    ) -> Answer:
        """Searches the store. Times are RFC 3339, such as ``2026-11-01T00:00:00Z``."""
        body = self._get(
            "search",
            q=query,
            limit=limit,
            offset=offset,
            site=site,
            language=language,
            topic=topic,
            since=since,
            until=until,
            published_since=published_since,
            published_until=published_until,
            type=type,
            sort=sort,
            facets=facets,
            log=log,
        )
        hits = [_read(Hit, hit) for hit in body["results"]]
        return _read(Answer, {**body, "hits": hits})

    def search_all(self, query: str, *, most: int = 1000, **filters: Any) -> Iterator[Hit]:
        """Returns up to ``most`` hits, and asks for further ones as they are needed."""
        offset = 0
        while offset < most:
            answer = self.search(query, limit=min(100, most - offset), offset=offset, **filters)
            yield from answer
            offset += len(answer)
            if not answer.hits or offset >= answer.total:
                return

    def suggest(self, query: str) -> JsonObject:
        """Suggests queries and pages for the beginning of a query."""
        return self._get("suggest", q=query)

    def page(self, url: str, *, section: str | None = None) -> Page:
        """Reads a page; with ``section``, only the section with this id."""
        return _read(Page, self._get("page", url=url, section=section))

    def similar(self, url: str, *, limit: int | None = None) -> JsonObject:
        """Returns pages with similar content."""
        return self._get("similar", url=url, limit=limit)

    # The crawl

    def changes(
        self,
        since: int | str = 0,
        *,
        limit: int = 1000,
        wait: int = 0,
        site: str | None = None,
        change: ChangeKind | None = None,
    ) -> list[Change]:
        """Returns changes after a number or a time. ``wait`` is the time in seconds to wait for one."""
        text = self._send(
            "GET", "changes", {"since": since, "limit": limit, "wait": wait, "site": site, "change": change}
        )
        return [_read(Change, json.loads(line)) for line in text.splitlines() if line]

    def follow(self, since: int | str = 0, **filters: Any) -> Iterator[Change]:
        """Returns changes as they happen. Does not end."""
        while True:
            found = self.changes(since, wait=min(50, int(self._timeout) - 1), **filters)
            for change in found:
                since = change.number
                yield change

    def sites(self, name: str | None = None, *, limit: int = 100, offset: int = 0) -> list[Site]:
        """Returns the sites of the store, those with the most URLs first."""
        body = self._get("sites", name=name, limit=limit, offset=offset)
        return [_read(Site, site) for site in body["sites"]]

    def sources(self, *, limit: int | None = None) -> list[JsonObject]:
        """Returns the pages that are polled to find new pages."""
        sources: list[JsonObject] = self._get("sources", limit=limit)["sources"]
        return sources

    def status(self) -> JsonObject:
        """Returns the state of the store and of its crawl."""
        return self._get("status")

    def explain(self, url: str) -> JsonObject:
        """Explains why a page was or was not fetched, and when it is due. Needs the right to view."""
        return self._get("explain", url=url)

    def report(self, report: Report) -> list[JsonObject]:
        """Returns the rows of a report, each by the names of the columns. Needs the token."""
        body = self._get(f"reports/{quote(report)}")
        return [dict(zip(body["columns"], row)) for row in body["rows"]]

    # Controls, which need the token

    def crawl(self, seeds: Sequence[str], *, budget: str | None = None) -> JsonObject:
        """Adds sites to the crawl; ``budget`` is a rate such as ``500/h``."""
        return self._post("crawl", {"seeds": list(seeds), "budget": budget})

    def pause(self) -> JsonObject:
        """Pauses the crawl: requests under way end."""
        return self._post("control/pause", None)

    def resume(self) -> JsonObject:
        """Resumes a paused crawl."""
        return self._post("control/resume", None)

    def set_budget(self, budget: str) -> JsonObject:
        """Sets the budget of a crawl that does not end, such as ``2/s`` or ``5000/day``."""
        return self._post("control/budget", {"rate": budget})

    def block(self, host: str) -> JsonObject:
        """Sends no more requests to a host; its pages stay searchable."""
        return self._post("control/block", {"host": host, "blocked": True})

    def unblock(self, host: str) -> JsonObject:
        """Lets requests to a host through again."""
        return self._post("control/block", {"host": host, "blocked": False})

    # Requests

    def _get(self, path: str, **parameters: Any) -> JsonObject:
        body: JsonObject = json.loads(self._send("GET", path, parameters))
        return body

    def _post(self, path: str, body: JsonObject | None) -> JsonObject:
        if body is not None:
            body = {name: value for name, value in body.items() if value is not None}
        answer: JsonObject = json.loads(self._send("POST", path, {}, body))
        return answer

    def _send(self, method: str, path: str, parameters: JsonObject, body: JsonObject | None = None) -> str:
        given = {name: _text(value) for name, value in parameters.items() if value is not None}
        address = f"{self._address}/api/v1/{path}" + (f"?{urlencode(given)}" if given else "")
        headers = {"Accept": "application/json, application/x-ndjson"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        for repeat in range(_REPEATS + 1):
            request = Request(address, data=data, headers=headers, method=method)
            try:
                with urlopen(request, timeout=self._timeout) as answer:
                    text: str = answer.read().decode()
                    return text
            except HTTPError as error:
                with error:
                    refused = _error(error.code, error.read())
                    wait = error.headers.get("Retry-After")
                if error.code != 429 or repeat == _REPEATS:
                    raise refused from None
                time.sleep(min(float(wait or 1), _LONGEST_WAIT))
        raise AssertionError("the last repetition returns or raises")


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _error(status: int, body: bytes) -> AvocetError:
    try:
        error = json.loads(body)["error"]
        return AvocetError(status, str(error["reason"]), str(error["message"]))
    except (ValueError, KeyError, TypeError):
        return AvocetError(status, "unknown", body.decode(errors="replace").strip())
