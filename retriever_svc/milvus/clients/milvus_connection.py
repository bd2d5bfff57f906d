"""Calls to Milvus, with its errors named as those of the mesh.

Reads see every write that was answered before they began (consistency level "Strong").
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc
from pymilvus import MilvusClient
from pymilvus.client.types import LoadState
from pymilvus.exceptions import MilvusException

from chassis.errors import ServiceError, Unavailable
from retriever_svc.milvus.collections.collection_shape import CollectionShape, IndexedField

R = TypeVar("R")

MOST_HITS = 16_384
"""The most entries that Milvus returns to one search or query."""

_STRONG = "Strong"
_COLLECTION_NOT_FOUND = 100
_NOT_LOADED = 101
# Calls that no repetition makes right: a defect of ours, or a server too old for what is asked.
_MISTAKES = frozenset({6, 1100})
_FIRST_PAUSE_S = 0.005
_LONGEST_PAUSE_S = 0.5
# Logs each failed call with a traceback; ours say it once, where it matters.
logging.getLogger("pymilvus").setLevel(logging.CRITICAL)


class CollectionMissingError(Exception):
    """The collection is not there."""


class MilvusConnection:
    """Shared by threads; connects at the first call, and anew where the server was lost.

    Every method raises Unavailable (INDEX_LOST) where Milvus does not answer in time, refuses or
    is lost.
    """

    def __init__(self, uri: str, *, token: str, database: str, timeout_s: float) -> None:
        """Opens nothing yet."""
        self._uri = uri
        self._token = token
        self._database = database
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._opened: MilvusClient | None = None
        self._loaded: set[str] = set()

    def close(self) -> None:
        """Closes the connection; no call may be under way."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def prepare(self, name: str, shape: CollectionShape) -> None:
        """Makes sure that the collection is there, with its indexes, and can be searched."""
        if name in self._loaded:
            return
        with self._errors_named():
            client = self._client()
            if not client.has_collection(name, timeout=self._timeout_s):
                client.create_collection(
                    name, schema=shape.schema(), consistency_level=_STRONG, timeout=self._timeout_s
                )
            present = set(client.list_indexes(name, timeout=self._timeout_s))
            for field in shape.indexed_fields(lite=self._is_lite()):
                if field.name not in present:
                    self._create_index(name, field)
        self._load(name)

    def drop(self, name: str) -> None:
        """Drops the collection; one that is not there is no error."""
        self._loaded.discard(name)
        with self._errors_named():
            self._client().drop_collection(name, timeout=self._timeout_s)

    def exists(self, name: str) -> bool:
        """Whether the collection is there."""
        with self._errors_named():
            return bool(self._client().has_collection(name, timeout=self._timeout_s))

    def upsert(self, name: str, entries: Sequence[Mapping[str, Any]]) -> None:
        """Stores entries in place of those with the same ids."""
        self._call(
            name,
            lambda client: client.upsert(
                name, [dict(entry) for entry in entries], timeout=self._timeout_s
            ),
        )

    def delete(self, name: str, ids: Collection[int]) -> None:
        """Deletes entries; those that are not there are no error."""
        self._call(name, lambda client: client.delete(name, ids=list(ids), timeout=self._timeout_s))

    def search(
        self,
        name: str,
        field: str,
        query: Any,
        *,
        limit: int,
        condition: str = "",
        params: Mapping[str, Any] | None = None,
    ) -> dict[int, float]:
        """Returns the best entries with their scores, best first, at most `limit`."""

        def call(client: MilvusClient) -> Any:
            return client.search(
                name,
                data=[query],
                anns_field=field,
                limit=min(limit, MOST_HITS),
                filter=condition,
                search_params=dict(params or {}),
                output_fields=["id"],
                consistency_level=_STRONG,
                timeout=self._timeout_s,
            )

        hits = self._call(name, call)[0]
        return {int(hit["id"]): float(hit["distance"]) for hit in hits}

    def count(self, name: str, condition: str) -> int:
        """Counts the entries that fulfil the condition."""
        rows = self._query(name, condition, ["count(*)"])
        return int(rows[0]["count(*)"])

    def ids(self, name: str, condition: str, *, limit: int) -> list[int]:
        """Returns ids of entries that fulfil the condition, at most `limit`."""
        rows = self._query(name, condition, ["id"], limit=limit)
        return [int(row["id"]) for row in rows]

    def _query(self, name: str, condition: str, fields: list[str], **options: Any) -> Any:
        return self._call(
            name,
            lambda client: client.query(
                name,
                filter=condition,
                output_fields=fields,
                consistency_level=_STRONG,
                timeout=self._timeout_s,
                **options,
            ),
        )

    def _call(self, name: str, call: Callable[[MilvusClient], R]) -> R:
        """Calls; a collection that is there but cannot be searched yet is loaded first."""
        with self._errors_named():
            client = self._client()
            try:
                return call(client)
            except MilvusException as error:
                if error.code == _COLLECTION_NOT_FOUND:
                    self._loaded.discard(name)
                    raise CollectionMissingError(name) from error
                if error.code != _NOT_LOADED:
                    raise
        self._load(name)
        with self._errors_named():
            return call(client)

    def _create_index(self, name: str, field: IndexedField) -> None:
        params = MilvusClient.prepare_index_params()
        params.add_index(
            field.name,
            index_type=field.index_type,
            index_name=field.name,
            **({"metric_type": field.metric} if field.metric else {}),
            params=dict(field.params),
        )
        self._client().create_index(name, params, sync=False, timeout=self._timeout_s)

    def _load(self, name: str) -> None:
        with self._errors_named():
            client = self._client()
            client.load_collection(name, timeout=self._timeout_s, _async=True)
            pause, until = _FIRST_PAUSE_S, time.monotonic() + self._timeout_s
            while not self._is_loaded(client, name):
                if time.monotonic() > until:
                    raise _lost(f"collection {name} is not loaded within {self._timeout_s:g} s")
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_S)
        self._loaded.add(name)

    def _is_loaded(self, client: MilvusClient, name: str) -> bool:
        state = client.get_load_state(name, timeout=self._timeout_s)
        return bool(state["state"] == LoadState.Loaded)

    def _is_lite(self) -> bool:
        return "lite" in str(self._client().get_server_version(timeout=self._timeout_s))

    def _client(self) -> MilvusClient:
        with self._lock:
            if self._opened is None:
                self._opened = MilvusClient(
                    uri=self._uri,
                    token=self._token,
                    db_name=self._database,
                    timeout=self._timeout_s,
                    dedicated=True,
                )
            return self._opened

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except (ServiceError, CollectionMissingError):
            raise
        except MilvusException as error:
            if error.code in _MISTAKES:
                raise
            raise _lost(error.message) from error
        except (grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            raise _lost(str(error) or type(error).__name__) from error


def _lost(why: str) -> Unavailable:
    lines = why.strip().splitlines() or [""]
    return Unavailable(f"Milvus is lost: {lines[0]}", retry_after_s=1.0, reason="INDEX_LOST")
