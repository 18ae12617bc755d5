// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "benchmarks/side_by_side.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/bench/bench.hpp"

namespace d5::benchmarks {

/// Measures the forward pass of DeepBench's problems in data/deepbench/`set`.txt, in every
/// available framework: each timed by Google Benchmark, and the interleaved ratios to the
/// reference.
inline int run_deepbench(const std::string& set, int argc, char** argv) {
  for (const CaseLine& one : read_cases(D5_DEEPBENCH_DIR "/" + set + ".txt", 1)) {
    std::vector<Peer> peers;
    for (const auto& info : frameworks()) {
      peers.push_back({info.name, [one, name = info.name] {
                         return operator_subject(one.draw(), name, BenchOptions::Passes::forward);
                       }});
    }
    add(one.line, peers);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace d5::benchmarks
