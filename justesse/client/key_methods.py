"""The methods of the gateway that keep API keys."""

from justesse.client.method import PACKAGE, Method
from justesse.gateway.v1 import keys_pb2

CREATE_KEY = Method(
    f"{PACKAGE}.KeyService",
    "CreateKey",
    keys_pb2.CreateKeyRequest,
    keys_pb2.CreateKeyResponse,
    idempotent=False,
)
LIST_KEYS = Method(
    f"{PACKAGE}.KeyService",
    "ListKeys",
    keys_pb2.ListKeysRequest,
    keys_pb2.ListKeysResponse,
    idempotent=True,
)
REVOKE_KEY = Method(
    f"{PACKAGE}.KeyService",
    "RevokeKey",
    keys_pb2.RevokeKeyRequest,
    keys_pb2.RevokeKeyResponse,
    idempotent=False,
)
