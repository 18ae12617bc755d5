// SPDX-License-Identifier: Apache-2.0
// Holds a framework against the reference on ten small networks, outputs and gradients, within what
// rounding can do (d5/level1_network/validation/network_validation.hpp): right answers must pass,
// and one number that is wrong by four times the bound must fail.
//
//   rounding FRAMEWORK [--load FILE] [--seeds N] [--from SEED]
//
// A framework that is known to be less exact has a line "network reason" in
// rounding/<framework>.txt; a line that all seeds do without fails, too.
//
// Exit status: 0 so it is, 1 it is not, 2 bad usage, 4 skipped.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>

#include "conformance/availability.hpp"
#include "conformance/small_networks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/validation/network_validation.hpp"

namespace {

using d5::Measurement;
using d5::Tensor;

struct Options {
  std::string framework, load;
  std::uint64_t seeds = 3, from = 0;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if ((word == "--seeds" || word == "--from") && i + 1 < argc) {
      std::uint64_t& number = word == "--seeds" ? options.seeds : options.from;
      const std::string_view text = argv[++i];
      if (std::from_chars(text.begin(), text.end(), number).ptr != text.end()) return false;
    } else if (word == "--load" && i + 1 < argc) {
      options.load = argv[++i];
    } else if (!word.starts_with("-") && options.framework.empty()) {
      options.framework = word;
    } else {
      return false;
    }
  }
  return !options.framework.empty();
}

/// An executor whose answers have one wrong number.
class Planted final : public d5::GraphExecutor {
 public:
  /// `error` is added to the largest element of `tensor`: "output y", "gradient of w".
  Planted(d5::GraphExecutor& right, std::string tensor, double error)
      : right_(right), tensor_(std::move(tensor)), error_(error) {}

  const d5::ValueMap& inference(const d5::ValueMap& inputs) override {
    return wrong(right_.inference(inputs));
  }
  const d5::ValueMap& inference_and_backprop(const d5::ValueMap& inputs,
                                             std::string_view loss) override {
    const d5::ValueMap& outputs = right_.inference_and_backprop(inputs, loss);
    for (auto& parameter : network().parameters()) {
      if (tensor_ == "gradient of " + parameter.name) plant(parameter.gradient);
    }
    return wrong(outputs);
  }
  const Tensor& gradient(std::string_view name) const override { return right_.gradient(name); }
  void synchronise() override { right_.synchronise(); }
  void set_mode(d5::NetworkMode mode) override { right_.set_mode(mode); }
  d5::NetworkMode mode() const override { return right_.mode(); }
  d5::ValueMap state() const override { return right_.state(); }
  void restore(const d5::ValueMap& state) override { right_.restore(state); }
  d5::Network& network() override { return right_.network(); }
  d5::EventList& events() override { return right_.events(); }
  std::string framework() const override { return right_.framework(); }

 private:
  void plant(Tensor& tensor) const {
    const auto values = tensor.span<float>();
    const auto largest = std::ranges::max_element(values, {}, [](float v) { return std::fabs(v); });
    *largest = static_cast<float>(double(*largest) + error_);
  }
  const d5::ValueMap& wrong(const d5::ValueMap& outputs) {
    outputs_.clear();
    for (const auto& [name, value] : outputs) {
      Tensor copy = value.tensor().copy();
      if (tensor_ == "output " + name) plant(copy);
      outputs_[name] = copy;
    }
    return outputs_;
  }

  d5::GraphExecutor& right_;
  std::string tensor_;
  double error_;
  d5::ValueMap outputs_;
};

struct Counts {
  int answers = 0;  ///< right ones that were compared
  int alarms = 0;   ///< right answers that failed
  int planted = 0;  ///< errors of four times the first bound
  int widened = 0;  ///< found as errors of four times the second bound alone
  int missed = 0;   ///< errors of four times the last bound that passed

  [[nodiscard]] int wrong() const { return alarms + missed; }
  Counts& operator+=(const Counts& other) {
    answers += other.answers;
    alarms += other.alarms;
    planted += other.planted;
    widened += other.widened;
    missed += other.missed;
    return *this;
  }
};

/// One network with the weights and inputs of one seed.
class Trial {
 public:
  Trial(const d5::conformance::SmallNetwork& network, const std::string& framework,
        std::uint64_t seed)
      : name_(fmt::format("{} seed {}", network.name, seed)),
        seed_(seed),
        subject_(d5::make_executor(network.make(seed), {.frameworks = {framework, "reference"}})),
        reference_(d5::make_executor(network.make(seed))),
        inputs_(d5::random_inputs(subject_->network(), {}, seed)) {}

  /// Judges the right answers and an error; prints what was judged wrongly. Each seed plants the
  /// error in another tensor.
  Counts run() {
    std::vector<Measurement> passed;
    for (auto& record : test(*subject_)) {
      if (record.status == d5::Status::mistrusted) continue;  // rounding is all that is there
      ++counts_.answers;
      if (record.status == d5::Status::passed) {
        passed.push_back(std::move(record));
        continue;
      }
      fmt::print("false alarm: {}: {}, bound {}\n", name_, record.reason, bound_of(record));
      ++counts_.alarms;
    }
    if (!passed.empty()) plant_in(passed[seed_ % passed.size()]);
    return counts_;
  }

 private:
  std::vector<Measurement> test(d5::GraphExecutor& subject) {
    return d5::test_executor_backprop(subject, *reference_, inputs_, "loss");
  }
  static std::string bound_of(const Measurement& record) {
    const auto place = record.conditions.find("bound");
    return place == record.conditions.end() ? "none" : place->second.text();
  }
  void plant_in(const Measurement& passed) {
    const std::string tensor = passed.conditions.at("tensor").text();
    const double bound = d5::condition_number(passed, "bound").value();
    const double scale = scale_of(tensor);
    if (bound * scale == 0) return;
    ++counts_.planted;
    const double last = bound_that_passes(tensor, 4 * bound * scale);
    if (last == 0) return;
    if (last > bound && bound_that_passes(tensor, 4 * last * scale) == 0) {
      ++counts_.widened;
      return;
    }
    fmt::print("missed: {}: {} wrong by {}, bound {}\n", name_, tensor, 4 * last, last);
    ++counts_.missed;
  }
  /// The bound by which the tensor passes with this error; 0 if it fails.
  double bound_that_passes(const std::string& tensor, double error) {
    Planted planted(*subject_, tensor, error);
    for (const auto& record : test(planted)) {
      if (record.conditions.at("tensor") != tensor) continue;
      if (record.status == d5::Status::failed) return 0;
      return d5::condition_number(record, "bound").value();
    }
    throw d5::NotFound(fmt::format("{}: no record of {}", name_, tensor));
  }
  double scale_of(const std::string& tensor) {
    const auto largest = [](const Tensor& t) {
      double result = 0;
      for (const float v : t.span<float>()) result = std::max(result, std::fabs(double(v)));
      return result;
    };
    for (const auto& parameter : reference_->network().parameters()) {
      if (tensor == "gradient of " + parameter.name) return largest(parameter.gradient);
    }
    const auto& outputs = reference_->inference(inputs_);
    return largest(outputs.at(tensor.substr(std::strlen("output "))).tensor());
  }

  std::string name_;
  std::uint64_t seed_;
  std::unique_ptr<d5::GraphExecutor> subject_, reference_;
  d5::ValueMap inputs_;
  Counts counts_;
};

/// Networks that a framework is known to answer less exactly, and why.
std::map<std::string, std::string> excuses(const std::string& framework) {
  const char* source = std::getenv("D5_SOURCE_DIR");
  std::ifstream file(
      fmt::format("{}/tests/conformance/rounding/{}.txt", source ? source : ".", framework));
  std::map<std::string, std::string> result;
  for (std::string line; std::getline(file, line);) {
    const auto space = line.find(' ');
    result[line.substr(0, space)] = line.substr(space + 1);
  }
  return result;
}

int check(const Options& options) {
  const auto absent = d5::conformance::why_absent(options.framework, options.load);
  if (!absent.empty()) {
    fmt::print("skipped: {}\n", absent);
    return 4;
  }
  const auto excused = excuses(options.framework);
  std::map<std::string, Counts> counted;
  for (std::uint64_t seed = options.from; seed < options.from + options.seeds; ++seed) {
    for (const auto& network : d5::conformance::small_networks()) {
      counted[network.name] += Trial(network, options.framework, seed).run();
    }
  }
  Counts all;
  int needless = 0;
  for (const auto& [network, counts] : counted) {
    const auto excuse = excused.find(network);
    if (excuse == excused.end()) {
      all += counts;
    } else if (counts.wrong() > 0) {
      fmt::print("excused: {}: {} tensors: {}\n", network, counts.wrong(), excuse->second);
    } else {
      fmt::print("{} needs no excuse any more: take out its line\n", network);
      ++needless;
    }
  }
  fmt::print("{} right answers, {} of them failed\n", all.answers, all.alarms);
  fmt::print(
      "{} errors of four times the bound, {} found at once, {} by the bound of 19 runs, {} "
      "missed\n",
      all.planted, all.planted - all.widened - all.missed, all.widened, all.missed);
  const int sum = all.wrong() + needless;
  return sum > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fmt::print(stderr, "usage: rounding FRAMEWORK [--load FILE] [--seeds N] [--from SEED]\n");
    return 2;
  }
  try {
    return check(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
