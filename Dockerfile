# Two images: `cpu` and `cuda`. Packages come from pip's own index unless PIP_INDEX_URL names another; for `cpu`,
# TORCH_INDEX_URL may name an index of builds without CUDA, which are far smaller.
FROM python:3.11-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/freshet
ENV PATH=/opt/freshet/bin:$PATH
WORKDIR /src
COPY constraints.txt ./

FROM build AS build-cuda
ARG PIP_INDEX_URL
RUN pip install --constraint constraints.txt torch
COPY . .
RUN pip install --constraint constraints.txt '.[postgresql]'

FROM build AS build-cpu
ARG PIP_INDEX_URL
ARG TORCH_INDEX_URL
# Without what torch needs: that index may not have it in the versions of the constraints.
RUN PIP_INDEX_URL="${TORCH_INDEX_URL:-$PIP_INDEX_URL}" pip install --no-deps --constraint constraints.txt torch
COPY . .
RUN pip install --constraint constraints.txt '.[postgresql]'

FROM python:3.11-slim AS runtime
RUN useradd --uid 10001 --no-create-home freshet && install --directory --owner=freshet --mode=700 /data
ENV PATH=/opt/freshet/bin:$PATH PYTHONUNBUFFERED=1 FRESHET_DATA=/data
WORKDIR /data
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import http.client; api = http.client.HTTPConnection('127.0.0.1', 8000, timeout=4); api.request('GET', '/health/live'); raise SystemExit(api.getresponse().status != 200)"]
ENTRYPOINT ["freshet"]
CMD ["serve", "--host", "0.0.0.0"]

# Triton compiles what starts its kernels when it first runs.
FROM runtime AS cuda
USER 0
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
USER 10001
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility TRITON_CACHE_DIR=/data/triton
COPY --from=build-cuda /opt/freshet /opt/freshet

FROM runtime AS cpu
COPY --from=build-cpu /opt/freshet /opt/freshet
