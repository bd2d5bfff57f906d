"""Our tables as queries see them; the migrations create them, and a test compares the two."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

METADATA = MetaData()

JOBS = Table(
    "justesse_jobs",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("kind", String(32), nullable=False),
    Column("workspace", String(63), nullable=False),
    Column("state", String(16), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("create_ms", BigInteger, nullable=False),
    Column("update_ms", BigInteger, nullable=False),
    Column("finish_ms", BigInteger),
    Index("justesse_jobs_by_workspace", "workspace", "id"),
    Index("justesse_jobs_by_finish", "finish_ms"),
)

TASKS = Table(
    "justesse_job_tasks",
    METADATA,
    Column(
        "number",
        BigInteger().with_variant(Integer(), "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("job_id", String(32), ForeignKey("justesse_jobs.id"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("workspace", String(63), nullable=False),
    Column("subject", String(512), nullable=False),
    Column("state", String(16), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("result", JSON),
    Column("message", Text, nullable=False),
    Column("error_status", String(32), nullable=False),
    Column("error_reason", String(64), nullable=False),
    Column("error_field", String(64), nullable=False),
    Column("done_count", BigInteger, nullable=False),
    Column("total_count", BigInteger, nullable=False),
    Column("attempt_count", Integer, nullable=False),
    Column("not_before_ms", BigInteger, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("lease_holder", String(64), nullable=False),
    Column("lease_token", BigInteger, nullable=False),
    Column("lease_until_ms", BigInteger, nullable=False),
    Column("update_ms", BigInteger, nullable=False),
    Index("justesse_job_tasks_by_job", "job_id", "number"),
    Index("justesse_job_tasks_by_state", "state", "kind", "workspace"),
    Index("justesse_job_tasks_by_subject", "workspace", "kind", "subject", "number"),
    sqlite_autoincrement=True,
)

TURNS = Table(
    "justesse_job_turns",
    METADATA,
    Column("workspace", String(63), primary_key=True),
    Column("turn", BigInteger, nullable=False),
)

LEASES = Table(
    "justesse_leases",
    METADATA,
    Column("name", String(255), primary_key=True),
    Column("holder", String(64), nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("until_ms", BigInteger, nullable=False),
)

GLOSSARY = Table(
    "justesse_glossary",
    METADATA,
    Column("workspace", String(63), primary_key=True),
    Column("name", String(400), primary_key=True),
    Column("term", String(100), nullable=False),
    Column("synonyms", JSON, nullable=False),
    Column("version", BigInteger, nullable=False),
)

GLOSSARY_VERSIONS = Table(
    "justesse_glossary_versions",
    METADATA,
    Column("workspace", String(63), primary_key=True),
    Column("version", BigInteger, nullable=False),
)

KEYS = Table(
    "justesse_keys",
    METADATA,
    Column("prefix", String(16), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("grants", JSON, nullable=False),
    Column("creator", String(200), nullable=False),
    Column("create_ms", BigInteger, nullable=False),
    Column("expire_ms", BigInteger),
    Column("revoke_ms", BigInteger),
)

SWITCH_OVERRIDES = Table(
    "justesse_switch_overrides",
    METADATA,
    Column("workspace", String(63), primary_key=True),
    Column("config_key", String(128), primary_key=True),
    Column("config_value", Text, nullable=False),
)

SWITCH_ROLLOUTS = Table(
    "justesse_switch_rollouts",
    METADATA,
    Column("config_key", String(128), primary_key=True),
    Column("config_value", Text, nullable=False),
    Column("percent", Float, nullable=False),
)

SWITCH_CHANGES = Table(
    "justesse_switch_changes",
    METADATA,
    Column(
        "number",
        BigInteger().with_variant(Integer(), "sqlite"),
        primary_key=True,
        autoincrement=True,
    ),
    Column("moment_ms", BigInteger, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("workspace", String(63), nullable=False),
    Column("config_key", String(128), nullable=False),
    Column("old_value", Text),
    Column("new_value", Text),
    sqlite_autoincrement=True,
)

SWITCH_OBSERVATIONS = Table(
    "justesse_switch_observations",
    METADATA,
    Column("config_key", String(128), primary_key=True),
    Column("config_value", Text),
)

SWITCH_VERSIONS = Table(
    "justesse_switch_versions",
    METADATA,
    Column("name", String(32), primary_key=True),
    Column("version", BigInteger, nullable=False),
)
