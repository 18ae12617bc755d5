// SPDX-License-Identifier: Apache-2.0
// Sizes of DeepBench's training suite, in every framework that is there: each as Google Benchmark
// times it, and the ratios to the reference, interleaved.
#include "benchmarks/side_by_side.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/bench.hpp"

int main(int argc, char** argv) {
  for (const char* line : {
           "Gemm 1760x1760 1760x16",
           "Gemm 1760x1760 1760x128",
           "Gemm 512x512 512x512",
           "Conv 4x3x112x112 64x3x7x7 pads=3x3x3x3 strides=2x2",
           "Conv 4x64x56x56 64x64x3x3 pads=1x1x1x1",
           "Conv 4x256x14x14 256x256x3x3 pads=1x1x1x1",
           "Conv 4x512x7x7 2048x512x1x1",
       }) {
    std::vector<d5::benchmarks::Peer> peers;
    for (const auto& info : d5::frameworks()) {
      peers.push_back({info.name, [line, name = info.name] {
                         return d5::operator_subject(d5::parse_case(line, 1), name,
                                                     d5::BenchOptions::Passes::forward);
                       }});
    }
    d5::benchmarks::add(line, peers);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
