# d5, built and installed: docker build -t d5 . && docker run --rm d5 env
FROM debian:12-slim
# LibTorch without CUDA, whose libraries this image does not have.
ENV PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
WORKDIR /d5
COPY scripts/setup scripts/setup
RUN scripts/setup
COPY . .
# For any x86-64 processor: an image runs on other machines than the one that built it.
RUN export PATH="$(scripts/setup --print)/venv/bin:$PATH" && \
    cmake --preset release -DD5_NATIVE=OFF -DD5_BUILD_TESTS=OFF -DD5_BUILD_EXAMPLES=OFF \
      -DD5_BUILD_BENCHMARKS=OFF && \
    cmake --build build/release && cmake --install build/release --prefix /usr/local && ldconfig
ENTRYPOINT ["d5"]
