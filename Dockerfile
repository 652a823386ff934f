# Two images: `cpu` and `cuda`. Packages come from pip's own index unless PIP_INDEX_URL names another. Where that has
# torch with CUDA alone, `cpu` needs TORCH_INDEX_URL, an index of builds without it. What `cuda` needs comes last: older
# builders do all stages before the one that is asked for.
ARG PYTHON_IMAGE=python:3.11-slim
FROM $PYTHON_IMAGE AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/freshet
ENV PATH=/opt/freshet/bin:$PATH
WORKDIR /src
COPY constraints.txt ./

FROM build AS build-cpu
ARG PIP_INDEX_URL
ARG TORCH_INDEX_URL
# Without what torch needs: that index may not have it in the versions of the constraints. A torch with CUDA is refused
# here, before its 4 GB of libraries come.
RUN PIP_INDEX_URL="${TORCH_INDEX_URL:-$PIP_INDEX_URL}" pip install --no-deps --constraint constraints.txt torch \
    && python -c "import runpy, sysconfig; cuda = runpy.run_path(sysconfig.get_path('purelib') + '/torch/version.py')['cuda']; raise SystemExit(cuda and 'This torch has CUDA: let TORCH_INDEX_URL name an index of builds without it, or build the target cuda.')"
COPY . .
# Without what nothing imports: the packages' own tests, headers of C++ and the programs of torch but its one.
RUN pip install --constraint constraints.txt '.[grid,postgresql]' \
    && find /opt/freshet/lib -depth -type d \( -name test -o -name tests -o -path '*/torch/include' \) \
        ! -path '*.dist-info/*' -exec rm -rf {} + \
    && find /opt/freshet/lib -path '*/torch/bin/*' -type f ! -name torch_shm_manager -delete

FROM $PYTHON_IMAGE AS runtime
RUN useradd --uid 10001 --no-create-home freshet && install --directory --owner=freshet --mode=700 /data
ENV PATH=/opt/freshet/bin:$PATH PYTHONUNBUFFERED=1 FRESHET_DATA=/data
WORKDIR /data
USER 10001
EXPOSE 8000
# Of what Python has by itself, for it runs twice a minute.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-IS", "-c", \
    "import socket; api = socket.create_connection(('127.0.0.1', 8000), 4); api.sendall(b'GET /health/live HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n'); raise SystemExit(b' 200 ' not in api.recv(64))"]
ENTRYPOINT ["freshet"]
CMD ["serve", "--host", "0.0.0.0"]

FROM runtime AS cpu
COPY --from=build-cpu /opt/freshet /opt/freshet

FROM build AS build-cuda
ARG PIP_INDEX_URL
RUN pip install --constraint constraints.txt torch
COPY . .
RUN pip install --constraint constraints.txt '.[grid,postgresql]'

# Triton compiles what starts its kernels when it first runs.
FROM runtime AS cuda
USER 0
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
USER 10001
ENV NVIDIA_DRIVER_CAPABILITIES=compute,utility TRITON_CACHE_DIR=/data/triton
COPY --from=build-cuda /opt/freshet /opt/freshet

FROM cpu AS default
