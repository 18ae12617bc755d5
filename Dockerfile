# d5, built and installed: docker build -t d5 . && docker run --rm d5 env
FROM debian:12-slim
WORKDIR /d5
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY . .
RUN scripts/build release && cmake_bin="$(scripts/setup --print)/venv/bin" && \
    "$cmake_bin/cmake" --install build/release --prefix /usr/local && ldconfig
ENTRYPOINT ["d5"]
