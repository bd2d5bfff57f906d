# One image for every process; the command names it: python -m gateway, python -m retriever_svc ...
FROM python:3.12-slim-bookworm AS build
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
RUN python -m venv /opt/justesse && /opt/justesse/bin/pip install --no-cache-dir '.[ocr]'

FROM python:3.12-slim-bookworm
# Reads the text in scans, in French and English.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        tesseract-ocr tesseract-ocr-eng tesseract-ocr-fra \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/justesse /opt/justesse
ENV PATH=/opt/justesse/bin:$PATH PYTHONUNBUFFERED=1
USER 65534:65534
CMD ["python", "-m", "gateway"]
