// SPDX-License-Identifier: Apache-2.0
// Time to compress a bucket of 16 MiB of gradients on one rank, including error feedback, compared
// with copying these bytes. Ratios are of the times; bytes per second are of the uncompressed size.
#include <cstring>
#include <memory>

#include "benchmarks/side_by_side.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"

namespace {

constexpr std::int64_t kRows = 2048, kColumns = 2048, kElements = kRows * kColumns;

/// A tensor distributed like gradients: few elements are large.
d5::Tensor gradient() {
  d5::Tensor values = d5::Tensor::empty(d5::DType::float32, {kElements});
  d5::RandomStream random(1);
  for (float& x : values.span<float>()) {
    const float y = random.normal();
    x = y * y * y;
  }
  return values;
}

d5::Subject copying(const d5::Tensor& values) {
  const d5::Tensor copy = d5::Tensor::empty(values.desc());
  return {.run = [=] {
    std::memcpy(const_cast<void*>(copy.raw()), values.raw(), values.bytes());
    benchmark::ClobberMemory();
  }};
}

/// A whole compression on a single rank: compressed, decompressed into the residual, and into the
/// sum.
d5::Subject compressing(const std::string& name, const d5::Tensor& values) {
  struct State {
    std::shared_ptr<d5::GradientCompressor> compressor;
    std::shared_ptr<d5::AllReduce> all_reduce = d5::all_reduces().at("ring").make();
    d5::Tensor value, rest;
    std::vector<d5::GradientPart> parts = {{0, {kRows, kColumns}}};
    std::int64_t step = 0;
  };
  const auto state = std::make_shared<State>();
  state->compressor = d5::gradient_compressors().at(name).make();
  state->value = values.copy();
  if (state->compressor->leaves_rest()) state->rest = values.copy();
  return {.run = [=] {
    state->value.copy_from(values);  // a copy of the same bytes, in each of them
    state->compressor
        ->start(*d5::world(), *state->all_reduce, state->value, state->rest,
                {.step = state->step++, .parts = state->parts})
        ->wait();
  }};
}

}  // namespace

int main(int argc, char** argv) {
  const d5::Tensor values = gradient();
  std::vector<d5::benchmarks::Peer> peers = {{"copy", [=] { return copying(values); }}};
  for (const auto& name : d5::gradient_compressors().names()) {
    peers.push_back({name, [=] { return compressing(name, values); }});
  }
  d5::benchmarks::add("compress_16_MiB", peers);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
