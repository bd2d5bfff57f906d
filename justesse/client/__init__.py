"""Client of the mesh, synchronous and asynchronous, with typed results and errors.

    from justesse.client import Justesse

    with Justesse("127.0.0.1:50050") as justesse:
        for hit in justesse.search("demo", "Quand part la commande ?").hits:
            print(hit.rank, hit.source.title, hit.text)

`AsyncJustesse` has the same methods, to be awaited. The package needs grpc, protobuf and the
contracts, and nothing else of the distribution.
"""

from justesse.client.answers import (
    Answer,
    AnswerCitations,
    AnswerDelta,
    AnswerEnd,
    AnswerEvent,
    AnswerOrigin,
    AnswerOutcome,
    AnswerRefusal,
    AnswerSource,
    AnswerSources,
    Citation,
    TokenUsage,
)
from justesse.client.asynchronous import AsyncJustesse
from justesse.client.channels import DEFAULT_ADDRESS
from justesse.client.contexts import (
    Context,
    ContextFormat,
    ContextOptions,
    ContextSource,
    LeftOutPassages,
)
from justesse.client.documents import (
    DeletedDocument,
    DeletedSource,
    Document,
    DocumentPage,
    DocumentWithPassages,
    Passage,
)
from justesse.client.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    FieldViolation,
    InternalError,
    InvalidRequestError,
    JustesseError,
    NotFoundError,
    NotSupportedError,
    PermissionDeniedError,
    ResourceExhaustedError,
    TimeoutExceededError,
    UnauthenticatedError,
    UnavailableError,
)
from justesse.client.explanations import (
    ExpectationOutcome,
    ExplainedPassage,
    FormulaParts,
    ListStanding,
    MatchedTerm,
    RerankStep,
    RewriteOrigin,
    SearchedList,
    SearchExplanation,
)
from justesse.client.filters import Filter
from justesse.client.fusion import Fusion
from justesse.client.glossary import (
    GlossaryChange,
    GlossaryDeletion,
    GlossaryEntry,
    GlossaryPage,
)
from justesse.client.ingestion import DocumentFacts, IngestionOutcome, IngestionResult
from justesse.client.jobs import FileToIngest, Job, JobFile, JobFileFailure, JobPage, JobState
from justesse.client.keys import EVERY_WORKSPACE, Action, CreatedKey, Grant, Key
from justesse.client.mesh_state import MeshState, ProviderState, ServiceHealth, ServiceState
from justesse.client.metadata import MetadataValue
from justesse.client.receipt import Cost, Receipt, StageOutcome, StageReport
from justesse.client.search_options import SearchOptions
from justesse.client.search_result import (
    Hit,
    ListRank,
    Parent,
    Scores,
    SearchResult,
    Source,
    SpaceScore,
    Speaker,
    TextSpan,
    Turn,
)
from justesse.client.spaces import (
    DroppedSpace,
    GateVerdict,
    LabelledQuestion,
    ReembeddingEvent,
    ReembeddingOutcome,
    ReembeddingPlan,
    ReembeddingProgress,
    SpaceSwitch,
    SwitchGate,
)
from justesse.client.switches import (
    Switch,
    SwitchChange,
    SwitchChangeKind,
    SwitchChanges,
    Switches,
    SwitchOrigin,
    SwitchRollout,
)
from justesse.client.synchronous import Justesse
from justesse.client.thresholds import Threshold
from justesse.client.transfers import ImportedWorkspace
from justesse.client.workspaces import (
    DeletedWorkspace,
    DenseIndexKind,
    Space,
    Workspace,
    WorkspaceSettings,
)

__all__ = [
    "DEFAULT_ADDRESS",
    "EVERY_WORKSPACE",
    "Action",
    "AlreadyExistsError",
    "Answer",
    "AnswerCitations",
    "AnswerDelta",
    "AnswerEnd",
    "AnswerEvent",
    "AnswerOrigin",
    "AnswerOutcome",
    "AnswerRefusal",
    "AnswerSource",
    "AnswerSources",
    "AsyncJustesse",
    "Citation",
    "Context",
    "ContextFormat",
    "ContextOptions",
    "ContextSource",
    "Cost",
    "CreatedKey",
    "DeletedDocument",
    "DeletedSource",
    "DeletedWorkspace",
    "DenseIndexKind",
    "Document",
    "DocumentFacts",
    "DocumentPage",
    "DocumentWithPassages",
    "DroppedSpace",
    "ExpectationOutcome",
    "ExplainedPassage",
    "FailedPreconditionError",
    "FieldViolation",
    "FileToIngest",
    "Filter",
    "FormulaParts",
    "Fusion",
    "GateVerdict",
    "GlossaryChange",
    "GlossaryDeletion",
    "GlossaryEntry",
    "GlossaryPage",
    "Grant",
    "Hit",
    "ImportedWorkspace",
    "IngestionOutcome",
    "IngestionResult",
    "InternalError",
    "InvalidRequestError",
    "Job",
    "JobFile",
    "JobFileFailure",
    "JobPage",
    "JobState",
    "Justesse",
    "JustesseError",
    "Key",
    "LabelledQuestion",
    "LeftOutPassages",
    "ListRank",
    "ListStanding",
    "MatchedTerm",
    "MeshState",
    "MetadataValue",
    "NotFoundError",
    "NotSupportedError",
    "Parent",
    "Passage",
    "PermissionDeniedError",
    "ProviderState",
    "Receipt",
    "ReembeddingEvent",
    "ReembeddingOutcome",
    "ReembeddingPlan",
    "ReembeddingProgress",
    "RerankStep",
    "ResourceExhaustedError",
    "RewriteOrigin",
    "Scores",
    "SearchExplanation",
    "SearchOptions",
    "SearchResult",
    "SearchedList",
    "ServiceHealth",
    "ServiceState",
    "Source",
    "Space",
    "SpaceScore",
    "SpaceSwitch",
    "Speaker",
    "StageOutcome",
    "StageReport",
    "Switch",
    "SwitchChange",
    "SwitchChangeKind",
    "SwitchChanges",
    "SwitchGate",
    "SwitchOrigin",
    "SwitchRollout",
    "Switches",
    "TextSpan",
    "Threshold",
    "TimeoutExceededError",
    "TokenUsage",
    "Turn",
    "UnauthenticatedError",
    "UnavailableError",
    "Workspace",
    "WorkspaceSettings",
]
