"""The HTTP door as one ASGI application."""

from __future__ import annotations

from importlib.metadata import version

from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.types import ASGIApp

from chassis.metrics import Metrics
from gateway.application import Application
from gateway.http.access import RouteGuard
from gateway.http.description import describe_keys
from gateway.http.errors import install_error_handlers
from gateway.http.measurement import RequestMeasurement
from gateway.http.models.errors import ErrorAnswer
from gateway.http.routes.answers import answer_routes
from gateway.http.routes.chat_completions import chat_routes
from gateway.http.routes.context import context_routes
from gateway.http.routes.documents import document_routes
from gateway.http.routes.explanations import explanation_routes
from gateway.http.routes.glossary import glossary_routes
from gateway.http.routes.jobs import job_routes
from gateway.http.routes.keys import key_routes
from gateway.http.routes.operation import health_routes
from gateway.http.routes.search import search_routes
from gateway.http.routes.spaces import space_routes
from gateway.http.routes.switches import override_routes, switch_routes
from gateway.http.routes.transfers import transfer_routes
from gateway.http.routes.workspaces import workspace_routes
from gateway.http.surroundings import Surroundings

DOCS_FILES = "/docs-files"


def http_door(application: Application, metrics: Metrics) -> ASGIApp:
    """Returns what answers HTTP requests; it measures them in `metrics`."""
    app = routed(application)
    guard = RouteGuard(application.access, app.routes)
    measurement = RequestMeasurement(metrics)
    return Surroundings(app, guard, application.floodgate, application.pace, measurement)


def routed(application: Application) -> FastAPI:
    """Returns the routes without what surrounds them."""
    # Its page of documentation comes with the package instead of from another host.
    app = FastAPIOffline(
        title="Justesse",
        description="Finds the passage that answers.",
        version=version("justesse"),
        redoc_url=None,
        redirect_slashes=False,
        static_url=DOCS_FILES,
        responses={"4XX": {"model": ErrorAnswer}, "5XX": {"model": ErrorAnswer}},
    )
    app.include_router(search_routes(application.searches))
    app.include_router(explanation_routes(application.explanations))
    app.include_router(context_routes(application.contexts))
    app.include_router(answer_routes(application.answers))
    app.include_router(chat_routes(application.answers, application.catalogue))
    app.include_router(workspace_routes(application.catalogue))
    app.include_router(transfer_routes(application.archives))
    app.include_router(space_routes(application.spaces))
    app.include_router(glossary_routes(application.glossaries))
    app.include_router(
        document_routes(application.catalogue, application.uploads, application.jobs)
    )
    app.include_router(job_routes(application.jobs))
    app.include_router(key_routes(application.keys))
    app.include_router(switch_routes(application.switches, application.switch_editing))
    app.include_router(override_routes(application.switch_editing))
    app.include_router(health_routes(application.mesh))
    install_error_handlers(app)
    describe_keys(app)
    return app
