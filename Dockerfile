# One image for every process; the argument names it: docker run justesse gateway, docker run justesse
# retriever_svc ... A release sets the digest behind this tag: python:3.12-slim-bookworm@sha256:...
ARG BASE=python:3.12-slim-bookworm

FROM ${BASE} AS build
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY chassis chassis
COPY chat_models chat_models
COPY ranking_formula ranking_formula
COPY text_analysis text_analysis
COPY embedder_svc embedder_svc
COPY retriever_svc retriever_svc
COPY rewriter_svc rewriter_svc
COPY reranker_svc reranker_svc
COPY gateway gateway
COPY justesse justesse
# Compilers and pip's own environment stay in this stage.
RUN python -m venv /opt/justesse && /opt/justesse/bin/pip install --no-cache-dir '.[ocr,milvus,tracing]'

FROM ${BASE}
# Reads the text in scans, in French and English. The base's release says which versions there are.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        tesseract-ocr tesseract-ocr-eng tesseract-ocr-fra \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/justesse /opt/justesse
# A volume mounted here is writable by the process; everything else may be read-only but /tmp.
RUN install --directory --owner=65534 --group=65534 /data
ENV PATH=/opt/justesse/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
USER 65534:65534
ENTRYPOINT ["python", "-m"]
CMD ["gateway"]
