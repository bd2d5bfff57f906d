"""A search by hand: every passage is scored, every list sorted, nothing remembered."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from retriever_svc.explanations import PassageOutcome
from retriever_svc.filters import fulfils
from retriever_svc.fusion import FusedCandidate, Ranking, fuse
from retriever_svc.searches import (
    PassageHit,
    RankedList,
    SearchMode,
    SearchRequest,
    SearchResult,
    SpaceScore,
)
from retriever_svc.unit_vectors import checked_query_vector
from tests.fakes.plain_engine.plain_bm25 import PlainBm25
from tests.fakes.plain_engine.plain_workspace import PlainWorkspace, read_form


@dataclass(slots=True)
class PlainLists:
    """Holds the lists of a search."""

    described: list[RankedList] = field(default_factory=list)
    rankings: list[Ranking] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PlainVerdict:
    """Says what becomes of a candidate, and which threshold it misses, and how."""

    hit: PassageHit
    outcome: PassageOutcome
    threshold_index: int | None = None
    missed: str = ""


class PlainSearch:
    """One search over one state of a workspace."""

    def __init__(self, workspace: PlainWorkspace, request: SearchRequest) -> None:
        """Raises InvalidArgument for vectors that do not fit."""
        self._started = time.perf_counter()
        self.workspace = workspace
        self.request = request
        self.bm25 = PlainBm25(workspace)
        self.fusion = workspace.settings.fusion.changed_by(request.fusion)
        version = request.spaces_version
        self._outdated = version is not None and version != workspace.spaces_version
        self.vectors = [
            {
                space_id: checked_query_vector(
                    vector, space_id, workspace.spaces[space_id].dimension
                )
                for space_id, vector in variant.vectors.items()
                if space_id in workspace.spaces and not self._outdated
            }
            for variant in request.variants
        ]
        self.terms = [self.bm25.terms(variant.text) for variant in request.variants]
        self.among = {
            one.passage_id
            for one in workspace.passages.values()
            if request.filter is None
            or fulfils(workspace.documents[one.external_id].document, request.filter)
        }

    @cached_property
    def lists(self) -> PlainLists:
        """The lists that enter the fusion."""
        return self.make_lists(self.among, self.request.candidate_count)

    @cached_property
    def fused(self) -> list[FusedCandidate]:
        """All candidates in fused order."""
        return fuse(self.lists.rankings, rank_constant=self.fusion.rank_constant)

    @cached_property
    def verdicts(self) -> list[PlainVerdict]:
        """What becomes of each candidate: those of all pages in order, then the dropped ones."""
        kept: list[PassageHit] = []
        dropped: list[PlainVerdict] = []
        per_document: Counter[str] = Counter()
        for rank, candidate in enumerate(self.fused, start=1):
            hit = self._hit(candidate, rank)
            external_id = hit.document.external_id
            index, missed = self._missed(hit)
            if missed:
                under = PassageOutcome.UNDER_THRESHOLD
                dropped.append(PlainVerdict(hit, under, index, missed))
            elif per_document[external_id] == self.request.passages_per_document:
                dropped.append(PlainVerdict(hit, PassageOutcome.OVER_DOCUMENT_BOUND))
            else:
                per_document[external_id] += 1
                kept.append(hit)
        units = self._units(kept)
        placed = [
            PlainVerdict(hit, self._outcome(place))
            for place, unit in enumerate(units)
            for hit in unit
        ]
        return placed + dropped

    def result(self) -> SearchResult:
        """Returns the page that was asked for."""
        workspace, request = self.workspace, self.request
        kept = [
            one.hit
            for one in self.verdicts
            if one.outcome
            not in (PassageOutcome.UNDER_THRESHOLD, PassageOutcome.OVER_DOCUMENT_BOUND)
        ]
        missed = [one.threshold_index for one in self.verdicts if one.threshold_index is not None]
        return SearchResult(
            hits=tuple(one.hit for one in self.verdicts if one.outcome is PassageOutcome.RETURNED),
            lists=tuple(self.lists.described),
            fusion=self.fusion,
            spaces=workspace.described_spaces(),
            spaces_version=workspace.spaces_version,
            spaces_outdated=self._outdated,
            applied_seq=workspace.seq,
            latency_ms=(time.perf_counter() - self._started) * 1_000,
            languages=workspace.languages,
            total_count=len(self._units(kept)),
            window_cut=any(
                len(ranking.ids) >= request.candidate_count for ranking in self.lists.rankings
            ),
            drop_counts=dict(sorted(Counter(missed).items())),
        )

    def make_lists(self, among: set[int], count: int) -> PlainLists:
        """Makes lists of at most `count` of the passages."""
        made = PlainLists()
        for index, variant in enumerate(self.request.variants):
            if self.request.mode is not SearchMode.LEXICAL and variant.weight > 0:
                for space_id in self.vectors[index]:
                    weight = variant.weight * self.fusion.weight_of(space_id)
                    held = among & self.workspace.holders(space_id)
                    scores = {one: self.cosine(one, index, space_id) for one in held}
                    self._add(
                        made, (index, space_id), scores, weight, (len(among), len(held)), count
                    )
            weight = variant.weight if variant.lexical_weight is None else variant.lexical_weight
            reached = self._reached()
            rest = among if reached is None else among - reached
            if rest or reached is None:
                scores = self.bm25.scores(self.terms[index], rest)
                lexical = weight * self.fusion.lexical_weight
                self._add(made, (index, ""), scores, lexical, (len(among), len(rest)), count)
        return made

    def cosine(self, passage_id: int, variant_index: int, space_id: str) -> float:
        """Returns the cosine of a passage's vector with that of a wording."""
        vector = self.workspace.passages[passage_id].vectors[space_id].vector
        return _cosine(vector, self.vectors[variant_index][space_id])

    def space_scores(self, passage_id: int) -> tuple[SpaceScore, ...]:
        """Returns the cosines of a passage with the original wording, and of its best window."""
        scores = []
        for space_id in self.workspace.spaces:
            held = self.workspace.passages[passage_id].vectors.get(space_id)
            query = self.vectors[0].get(space_id)
            if held is not None and query is not None:
                windows = () if held.windows is None else held.windows
                best = max((_cosine(window, query) for window in windows), default=None)
                scores.append(SpaceScore(space_id, _cosine(held.vector, query), best))
        return tuple(scores)

    def _add(
        self,
        made: PlainLists,
        name: tuple[int, str],
        scores: dict[int, float],
        weight: float,
        counts: tuple[int, int],
        count: int,
    ) -> None:
        if weight <= 0:
            return
        total, held = counts
        ids = sorted(scores, key=lambda one: (-scores[one], one))[:count]
        made.rankings.append(Ranking(ids, weight, total / held if held else 1.0))
        made.described.append(RankedList(*name, len(ids), exact=True, weight=weight))

    def _reached(self) -> set[int] | None:
        """The passages that a dense search does not leave to BM25; None for any other search."""
        queried = {space_id for vectors in self.vectors for space_id in vectors}
        if self.request.mode is not SearchMode.DENSE or not queried:
            return None
        return set().union(*map(self.workspace.holders, queried))

    def _hit(self, candidate: FusedCandidate, rank: int) -> PassageHit:
        passage_id = candidate.passage_id
        stored = self.workspace.passages[passage_id]
        document = self.workspace.documents[stored.external_id]
        scores = self.space_scores(passage_id)
        # Where a rule needs it: always if it names no space, else for want of a cosine.
        rules = self.request.thresholds
        asked = any(not rule.space_id for rule in rules) or (rules and not scores)
        return PassageHit(
            passage_id,
            read_form(stored.passage),
            document.document,
            document.updated_at,
            rank,
            candidate.score,
            candidate.places,
            scores,
            self.bm25.scores(self.terms[0], [passage_id]).get(passage_id, 0.0),
            self.bm25.share(self.terms[0], passage_id) if asked else None,
        )

    def _missed(self, hit: PassageHit) -> tuple[int, str]:
        cosines = {score.space_id: score.cosine for score in hit.space_scores}
        for index, rule in enumerate(self.request.thresholds):
            if rule.counts_for(hit.document, self.request.context):
                missed = rule.missed_by(cosines, hit.term_share)
                if missed:
                    return index, missed
        return -1, ""

    def _units(self, kept: Sequence[PassageHit]) -> list[list[PassageHit]]:
        if not self.request.group_by_document:
            return [[hit] for hit in kept]
        groups: dict[str, list[PassageHit]] = {}
        for hit in kept:
            groups.setdefault(hit.document.external_id, []).append(hit)
        return list(groups.values())

    def _outcome(self, place: int) -> PassageOutcome:
        first, limit = self.request.offset, self.request.limit
        if place < first:
            return PassageOutcome.BEFORE_OFFSET
        if limit is not None and place >= first + limit:
            return PassageOutcome.OVER_LIMIT
        return PassageOutcome.RETURNED


def _cosine(one: npt.NDArray[np.float32], other: npt.NDArray[np.float32]) -> float:
    return float(np.dot(one.astype(np.float64), other.astype(np.float64)))
