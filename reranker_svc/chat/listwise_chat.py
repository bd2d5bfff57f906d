"""Orders passages by asking a chat model, in parts where they do not fit into one prompt.

Parts overlap by half and are asked from the last to the first, so that the best passage of the end
can rise to the top (sliding windows of Sun et al., "Is ChatGPT Good at Search?", EMNLP 2023).
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractAsyncContextManager

from chassis.deadline import Deadline
from chassis.errors import Unavailable
from chat_models.chain import ChatChain
from chat_models.chat import ChatRequest, Completion, FinishReason
from chat_models.connectivity import kept_ready
from chat_models.model_card import estimated_prompt_tokens
from reranker_svc.bill import Bill, Charge
from reranker_svc.chat.listwise_answer import order_from
from reranker_svc.chat.listwise_prompt import SPARE_TOKENS, listwise_request, passage_json
from reranker_svc.passage_model import ModelOrder, Passage

_SMALLEST_PART = 2
# With fewer tokens of each passage nobody could tell which one answers.
_FEWEST_PASSAGE_TOKENS = 40


class ListwiseChat:
    """A ChatChain as a PassageModel; of each passage it shows up to `passage_tokens`.

    An answer may take `spare_tokens` besides its numbers.
    """

    def __init__(
        self,
        chain: ChatChain,
        *,
        passage_tokens: int,
        spare_tokens: int = SPARE_TOKENS,
        check_interval_s: float,
    ) -> None:
        self._chain = chain
        self._check_interval_s = check_interval_s
        self._passage_tokens = passage_tokens
        self._spare_tokens = spare_tokens

    @property
    def name(self) -> str:
        """The word that the settings use for it."""
        return "chat"

    async def order(
        self, question: str, passages: Sequence[Passage], deadline: Deadline, bill: Bill
    ) -> ModelOrder:
        """Asks for an order; passages that an answer leaves out follow in the given order.

        Passages are cut further where even two do not fit into one prompt. Raises what the chain
        raises, and Unavailable if an answer names no passage or the question leaves no room.
        """
        order = list(range(len(passages)))
        last = None
        size, lines = self._fitting(question, passages)
        for part in parts(len(passages), size):
            asked = [order[place] for place in part]
            request = self._request(question, [lines[index] for index in asked])
            last = await self._chain.complete(request, deadline, may_pay=bill.may_pay)
            bill.add(_charge(last))
            order[part.start : part.stop] = [asked[at] for at in _completed(last, len(part))]
        assert last is not None
        return ModelOrder(tuple(order), (None,) * len(order), last.provider, last.model)

    def running(self) -> AbstractAsyncContextManager[None]:
        """Checks the models every `check_interval_s`; closes the chain at the end."""
        return kept_ready(self._chain, self._check_interval_s)

    def _request(self, question: str, lines: Sequence[str]) -> ChatRequest:
        return listwise_request(question, lines, spare_tokens=self._spare_tokens)

    def _fitting(self, question: str, passages: Sequence[Passage]) -> tuple[int, list[str]]:
        """Returns how many passages fit into one prompt with their answer, and each as shown."""
        tokens = self._passage_tokens
        while True:
            lines = [passage_json(passage, tokens) for passage in passages]
            size = self._part_size(question, lines)
            if size >= _SMALLEST_PART:
                return size, lines
            if tokens <= _FEWEST_PASSAGE_TOKENS:
                raise Unavailable(
                    f"the question leaves no room for two passages in {self._chain.context_tokens} "
                    "tokens, the smallest context of the chat models",
                    reason="CHAT_CONTEXT_TOO_SMALL",
                )
            tokens = max(_FEWEST_PASSAGE_TOKENS, tokens // 2)

    def _part_size(self, question: str, lines: Sequence[str]) -> int:
        """Returns how many of the longest passages fit, less than 2 if even two do not."""
        longest = sorted(lines, key=len, reverse=True)
        size = len(lines)
        while size >= _SMALLEST_PART:
            request = self._request(question, longest[:size])
            needed = estimated_prompt_tokens(request) + request.max_output_tokens
            if needed <= self._chain.context_tokens:
                break
            size = min(size - 1, max(_SMALLEST_PART, size * self._chain.context_tokens // needed))
        return size


def parts(count: int, size: int) -> Iterator[range]:
    """Yields the places of `count` passages in parts of `size`, the last places first.

    Neighbours overlap by half of a part. `size` is 2 or more.
    """
    start = max(0, count - size)
    while True:
        yield range(start, min(count, start + size))
        if start == 0:
            return
        start = max(0, start - size // 2)


def _completed(completion: Completion, count: int) -> list[int]:
    named = order_from(completion.text, count)
    if not named:
        cut = completion.finish_reason is FinishReason.LENGTH
        why = ": it was cut; give models that think first more CHAT_SPARE_TOKENS" if cut else ""
        raise Unavailable(
            f"{completion.provider} answered without an order of passages{why}",
            reason="CHAT_ANSWER_UNUSABLE",
        )
    return [*named, *(at for at in range(count) if at not in named)]


def _charge(completion: Completion) -> Charge:
    return Charge(
        completion.provider,
        completion.model,
        completion.usage.input_tokens,
        completion.usage.output_tokens,
        completion.cost,
        completion.currency,
    )
