// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/results.hpp"

namespace d5::testing {

/// Thirty samples from 1 to 1 + 29 * step, times scale: the median is 1 + 14.5 * step.
inline std::vector<double> ramp(double scale, double step) {
  std::vector<double> result;
  for (int i = 0; i < 30; ++i) result.push_back(scale * (1 + step * ((i * 7) % 30)));
  return result;
}

inline Environment an_environment() {
  Environment e;
  e.time = "2026-01-02T03:04:05Z";
  e.hostname = "host";
  e.os = "Linux 6.1 x86_64, Debian";
  e.cpu = "A Processor";
  e.sockets = 1;
  e.cores = 2;
  e.hardware_threads = 4;
  e.numa_nodes = 1;
  e.l1_bytes = 32768;
  e.l2_bytes = 1048576;
  e.l3_bytes = 33554432;
  e.memory_bytes = 8e9;
  e.virtualisation = "none";
  e.governor = "performance";
  e.compiler = "g++ 12.2.0";
  e.flags = "-O3";
  e.build_type = "Release";
  e.d5_version = "0.1.0";
  e.source_commit = "0123456789abcdef0123456789abcdef01234567";
  e.architecture = "x86_64";
  e.instruction_sets = {"avx2", "fma"};
  e.processor_limit = 1.5;
  e.memory_limit_bytes = 4e9;
  e.devices = {{"cpu", "A Processor, 2 cores"}};
  e.libraries = {{"glibc", "2.36"}};
  e.threads = 2;
  e.pinning = "cores 0-1";
  e.waiting = "d5: spins 0.1 ms, then sleeps";
  e.variables = {{"OMP_NUM_THREADS", "2"}};
  e.clock_seconds_per_read = 2.5e-8;
  e.warnings = {"turbo is on"};
  return e;
}

/// One record of every kind that matters to writers: several frameworks, statistics and statuses,
/// words that need care.
inline Results some_results() {
  Measurement conv{.subject = "Conv n=16 c=3",
                   .command = "d5 op bench 'Conv n=16 c=3'",
                   .level = "operator",
                   .framework = "reference",
                   .framework_version = "0.1.0",
                   .metric = "time",
                   .unit = "s",
                   .quantity = Quantity::time,
                   .over_ranks = OverRanks::maximum};
  conv.samples = ramp(1e-3, 0.01);
  conv.conditions = {{"cache", identity("hot")}, {"repetitions", aside(4)}};
  Measurement torch = conv;
  torch.framework = "torch";
  torch.framework_version = "2.13.0";
  torch.samples = ramp(9.99e-7, 1e-4);
  torch.conditions["cache"] = identity("cold");
  torch.status = Status::mistrusted;
  torch.reason = "a sample took 999 ns, the clock resolves 20 ns";
  Measurement error = error_record();
  error.subject = "Conv n=16 c=3";
  error.level = "operator";
  error.framework = "torch";
  error.samples = {1.2345e-7};
  Measurement bytes{.subject = "lenet, \"quoted\"",
                    .level = "distributed",
                    .framework = "reference",
                    .metric = "communication_volume",
                    .unit = "byte",
                    .quantity = Quantity::bytes,
                    .direction = Direction::neither};
  bytes.artefacts = {{.name = "lenet.onnx", .version = "opset 17", .sha256 = std::string(64, 'a')}};
  bytes.samples = std::vector<double>(6, 1725912.0);
  Measurement failed{.subject = "Gemm\x1b[2J",
                     .level = "operator",
                     .framework = "torch",
                     .metric = "time",
                     .unit = "s",
                     .quantity = Quantity::time,
                     .status = Status::failed,
                     .reason = "Gemm: A is 3x4 but B is 5x2;\nthe inner sizes must agree"};
  Measurement rate{.subject = "gemm",
                   .level = "operator",
                   .framework = "torch",
                   .metric = "flop_rate",
                   .unit = "flop/s",
                   .quantity = Quantity::rate,
                   .direction = Direction::higher_is_better};
  rate.samples = ramp(1.2e10, 0.002);
  rate.statistic = {.quantile = 0.9};
  return {an_environment(), {conv, torch, error, bytes, failed, rate}};
}

}  // namespace d5::testing
