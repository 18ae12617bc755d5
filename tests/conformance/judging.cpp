// SPDX-License-Identifier: Apache-2.0
// Tests how well benchmarks check what they time: planted faults must be found, and unchanged
// frameworks must raise no alarm.
//
//   judging [FRAMEWORK...] [--seeds N] [--every N]
//
// Each of five faults is planted in N networks; the rows are the lines of frameworks/*/tests,
// tests/level0_ops/framework_operators.txt and tests/cases, of those each N-th, forward and
// backward, and ten small networks with N seeds, in each framework (default: the reference). Every
// alarm is printed, with its reason, but for what tests/fuzz/known_differences.cpp says of a
// framework. A fault is found where it is wrong or, up to 64 bounds off, doubtful.
//
// Exit status: 0 no fault was missed and there was no alarm, 1 otherwise, 2 bad usage, 4 skipped.
#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <map>

#include "conformance/availability.hpp"
#include "conformance/small_networks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level0_ops/bench/bench.hpp"
#include "d5/level1_network/profile/network_bench.hpp"
#include "fuzz/known_differences.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"

namespace {

using d5::Measurement;
namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> frameworks;
  std::uint64_t seeds = 20, every = 1;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--seeds" || word == "--every") && i + 1 < argc) {
      std::uint64_t& number = word == "--seeds" ? options.seeds : options.every;
      const std::string_view text = argv[++i];
      if (std::from_chars(text.begin(), text.end(), number).ptr != text.end()) return false;
    } else if (!word.starts_with("-")) {
      options.frameworks.push_back(word);
    } else {
      return false;
    }
  }
  if (options.frameworks.empty()) options.frameworks = {"reference"};
  return options.seeds > 0 && options.every > 0;
}

/// Few runs: what they take is not asked for here.
d5::MeasureOptions briefly(int samples) {
  return {.samples = samples, .warmup = 1, .seconds_per_sample = 1e-6};
}

/// x -> Tanh -> Exp -> y, times numbers of a seed.
d5::Network hyperbolic(std::uint64_t seed, std::int64_t width) {
  d5::Network network("hyperbolic");
  network.add_input("x", d5::DType::float32, {"N", width});
  d5::Tensor scale = d5::Tensor::empty(d5::DType::float32, {width});
  d5::RandomStream random(seed, d5::stream_of("judging"));
  for (float& number : scale.span<float>()) number = float(random.normal_double());
  network.add_parameter("scale", scale);
  network.add_node("Tanh", {"x"}, {"t"});
  network.add_node("Exp", {"t"}, {"e"});
  network.add_node("Mul", {"e", "scale"}, {"y"});
  network.add_output("y");
  return network;
}

/// Returns the number of faults that were missed.
int plant(const Options& options, const d5::testing::TemporaryFolder& folder) {
  struct Fault {
    const char* what;
    const char* name;
    std::int64_t batch = 1;
    std::int64_t elements = 0;  ///< 0: some hundreds
  };
  constexpr Fault kFaults[] = {{"a wrong fusion of two nodes, off by 5%", "wrong-fusion"},
                               {"one element off by 1% after ten runs", "wrong-after-ten"},
                               {"one element off by 1% at batch 8", "wrong-at-batch-8", 8},
                               {"a stale cache", "stale"},
                               {"NaN in one of 10^6 elements", "one-nan", 1, 1'000'000}};
  int missed = 0;
  for (const Fault& fault : kFaults) {
    std::uint64_t found = 0, doubtful = 0;
    for (std::uint64_t seed = 0; seed < options.seeds; ++seed) {
      const std::string file = folder / "planted.onnx";
      hyperbolic(seed, fault.elements ? fault.elements : 100 + 37 * std::int64_t(seed)).save(file);
      const auto records =
          d5::bench_network(file, {.frameworks = {fmt::format("planted:{}", fault.name)},
                                   .sizes = {.batch = fault.batch},
                                   .metrics = {"time"},
                                   .measuring = briefly(10)});
      const std::string& answers = records.front().conditions.at("answers").text();
      found += answers == "wrong" || answers == "doubtful" ? 1 : 0;
      doubtful += answers == "doubtful" ? 1 : 0;
    }
    fmt::print("planted: {}: found {} of {}, {} of them doubtful\n", fault.what, found,
               options.seeds, doubtful);
    missed += int(options.seeds - found);
  }
  return missed;
}

/// Rows by what became of their answers.
class Rows {
 public:
  /// `one` is the operator's case, null for a network.
  void add(const std::vector<Measurement>& records, const d5::OperatorCase* one = nullptr) {
    for (const auto& record : records) {
      const std::string answers = condition_of(record, "answers");
      if (record.metric != "time" || answers.empty()) continue;
      if (record.samples.empty()) continue;  // it cannot run
      const bool alarm = answers == "wrong" || answers == "doubtful";
      const bool known = alarm && one && d5::fuzz::is_known_to_differ(*one, record.framework);
      ++rows_[record.framework][answers + (known ? ", as is known" : "")];
      if (!alarm || known) continue;
      ++alarms_;
      fmt::print("{} in {}: {}: {}\n", answers, record.framework, record.command, record.reason);
    }
  }
  void print() const {
    for (const auto& [framework, counts] : rows_) {
      for (const auto& [answers, count] : counts) {
        fmt::print("rows: {}: {} {}\n", framework, count, answers);
      }
    }
  }
  [[nodiscard]] int alarms() const { return alarms_; }

 private:
  std::map<std::string, std::map<std::string, int>> rows_;
  int alarms_ = 0;
};

std::vector<d5::CaseLine> lines(const Options& options) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  const fs::path root = source ? source : ".";
  std::vector<fs::path> files = {root / "tests/level0_ops/framework_operators.txt"};
  for (const char* name : {"conv.txt", "gemm.txt", "normalization.txt", "pooling.txt"}) {
    files.push_back(root / "tests/cases" / name);
  }
  for (const auto& folder : fs::directory_iterator(root / "frameworks")) {
    const fs::path file = folder.path() / "tests/operators.txt";
    if (fs::exists(file)) files.push_back(file);
  }
  std::vector<d5::CaseLine> result;
  std::uint64_t place = 0;
  for (const auto& file : files) {
    for (auto& one : d5::read_cases(file.string())) {
      if (place++ % options.every == 0) result.push_back(std::move(one));
    }
  }
  return result;
}

int run_honest(const Options& options, const d5::testing::TemporaryFolder& folder) {
  Rows rows;
  for (const auto& line : lines(options)) {
    const d5::OperatorCase one = line.draw();
    rows.add(d5::bench(one, {.frameworks = options.frameworks, .measuring = briefly(3)}), &one);
  }
  const std::string file = folder / "small.onnx";
  for (std::uint64_t seed = 0; seed < options.seeds; ++seed) {
    for (const auto& network : d5::conformance::small_networks()) {
      network.make(seed).save(file);
      rows.add(d5::bench_network(
          file, {.frameworks = options.frameworks, .metrics = {"time"}, .measuring = briefly(3)}));
    }
  }
  rows.print();
  return rows.alarms();
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fmt::print(stderr, "usage: judging [FRAMEWORK...] [--seeds N] [--every N]\n");
    return 2;
  }
  try {
    for (const auto& framework : options.frameworks) {
      const auto absent =
          d5::conformance::why_absent(framework.substr(0, framework.find_first_of(":+")));
      if (absent.empty()) continue;
      fmt::print("skipped: {}\n", absent);
      return 4;
    }
    planted::use_framework();
    const d5::testing::OwnCacheFolder cache;
    const d5::testing::TemporaryFolder folder;
    const int missed = plant(options, folder), alarms = run_honest(options, folder);
    fmt::print("{} faults missed, {} alarms\n", missed, alarms);
    return missed + alarms > 0 ? 1 : 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
