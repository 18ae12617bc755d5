// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_reduction.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/level1_network/execution_interrupt.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/answers.hpp"
#include "level1_network/validation/bounds_off.hpp"
#include "level1_network/validation/delta_debugging.hpp"
#include "level1_network/validation/rounding_judge.hpp"
#include "level1_network/validation/smaller_sizes.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

/// What a try found.
struct Finding {
  enum class Kind { none, answer, thrown, ended };
  Kind kind = Kind::none;
  double bounds = 0;  ///< that an answer is off
  std::string words = {};
};

/// What is the same in the messages of two networks about one fault: without names and numbers.
std::string essence_of(const std::string& message) {
  std::string essence;
  bool quoted = false;
  for (const char c : message) {
    if (c == '\'') quoted = !quoted;
    const bool is_word = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!quoted && is_word) essence += c;
  }
  return essence;
}

class Reduction {
 public:
  Reduction(const Network& network, const MakeExecutor& subject, const MakeExecutor& reference,
            const ValueMap& inputs, const ReductionOptions& options)
      : network_(network.copy()),
        subject_(subject),
        reference_(reference),
        inputs_(inputs),
        options_(options),
        begin_(now_seconds()) {
    result_.network = network_;
    result_.inputs = inputs_;
    result_.nodes_before = network_.graph().nodes.size();
  }

  ReducedNetwork run() {
    if (draws_random_numbers(network_.graph())) {
      throw ValueError(fmt::format(
          "network '{}' draws random numbers, which differ in every framework: replace the nodes "
          "that draw by what they drew, or see 'd5 net check --by-node'",
          printable(network_.name())));
    }
    look_at_the_whole();
    if (whole_.kind != Finding::Kind::none) {
      try {
        remove_nodes();
        remove_attributes();
        halve_sizes();
        result_.is_smallest = true;
      } catch (const Interrupted&) {  // the smallest so far is the answer
      }
      tell_answers();
    }
    result_.seconds = now_seconds() - begin_;
    return std::move(result_);
  }

 private:
  static constexpr int kRuns = 3;

  void look_at_the_whole() {
    for (int i = 0; i < kRuns; ++i) {
      const Finding found = look(network_, inputs_);
      ++result_.runs;
      if (found.kind == Finding::Kind::none) continue;
      ++result_.differing_runs;
      if (whole_.kind == Finding::Kind::none) whole_ = found;
    }
    result_.difference = whole_.words;
  }

  /// Throws: Interrupted, when time is over.
  bool differs(const Network& part, const ValueMap& fed) {
    options_.interrupt.check("reduce");
    if (now_seconds() - begin_ > options_.most_seconds) throw Interrupted("reduce: time is over");
    const bool comes_and_goes = result_.differing_runs < result_.runs;
    for (int i = 0; i < (comes_and_goes ? kRuns : 1); ++i) {
      ++result_.tries;
      Finding found;
      try {
        found = look(part, fed);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error&) {  // the reference cannot run this part
        return false;
      }
      const bool same = found.kind == whole_.kind && is_as_bad(found);
      if (same) {
        result_.network = part;
        result_.inputs = fed;
        result_.difference = found.words;
      }
      if (options_.on_try) {
        options_.on_try({result_.network.graph().nodes.size(), result_.tries});
      }
      if (same) return true;
    }
    return false;
  }

  /// Not another, smaller difference, nor another complaint.
  [[nodiscard]] bool is_as_bad(const Finding& found) const {
    if (found.kind == Finding::Kind::answer) {
      return found.bounds > kDoubtfulBounds || whole_.bounds <= kDoubtfulBounds;
    }
    return essence_of(found.words) == essence_of(whole_.words);
  }

  /// Throws: what the reference throws; Interrupted.
  [[nodiscard]] Finding look(const Network& part, const ValueMap& fed) const {
    if (options_.isolation.most_seconds <= 0) return look_here(part, fed);
    Measurement record = error_record("", "");
    const auto records = isolated(options_.isolation, record, [&] {
      const Finding found = look_here(part, fed);
      record.metric = fmt::format("{}", int(found.kind));
      record.samples = {found.bounds};
      record.reason = found.words.empty() ? "none" : found.words;
      record.status = Status::skipped;
      return std::vector{record};
    });
    const Measurement& told = records.front();
    if (told.status == Status::failed) return {Finding::Kind::ended, 0, told.reason};
    const auto kind = Finding::Kind(std::stoi(told.metric));
    if (kind == Finding::Kind::none) return {};
    return {kind, told.samples.front(), told.reason};
  }

  [[nodiscard]] Finding look_here(const Network& part, const ValueMap& fed) const {
    const auto reference = reference_(part.copy());
    const InterruptibleRuns within(*reference, options_.interrupt);
    RoundingJudge judge(*reference, fed, {}, options_.interrupt);
    std::vector<Answer> answers;
    try {
      const auto subject = subject_(part.copy());
      const InterruptibleRuns also_within(*subject, options_.interrupt);
      answers = answers_of(*subject, fed, {});
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      return {Finding::Kind::thrown, 0, error.what()};
    }
    Finding worst;
    for (const auto& record : judge.judge(error_record("", ""), answers)) {
      if (record.status != Status::failed || bounds_off(record) <= worst.bounds) continue;
      worst = {Finding::Kind::answer, bounds_off(record), record.reason};
    }
    return worst;
  }

  void remove_nodes() {
    const std::vector<onnx::Node> nodes = network_.graph().nodes;
    if (nodes.size() < 2) return;
    const ValueMap values = all_values();
    std::vector<std::size_t> places(nodes.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::set<std::vector<std::size_t>> known;  // those that do not differ
    (void)smallest_failing(places, [&](const std::vector<std::size_t>& some) {
      if (known.contains(some)) return false;
      std::vector<onnx::Node> chosen;
      for (const std::size_t place : some) chosen.push_back(nodes[place]);
      try {
        const Network part = part_of(chosen, network_, values);
        ValueMap fed;
        for (const auto& name : part.input_names()) fed[name] = values.at(name);
        if (differs(part, fed)) return true;
      } catch (const Interrupted&) {
        throw;
      } catch (const Error&) {  // values without a type: the part is none
      }
      known.insert(some);
      return false;
    });
  }

  /// Of every tensor, as the reference has it.
  [[nodiscard]] ValueMap all_values() const {
    std::set<std::string> names;
    for (const auto& node : network_.graph().nodes) {
      names.insert(node.outputs.begin(), node.outputs.end());
    }
    names.erase("");
    const auto executor = reference_(beginning_of(network_, network_.graph().nodes.size(), names));
    const InterruptibleRuns within(*executor, options_.interrupt);
    ValueMap values = inputs_;
    for (const auto& [name, value] : executor->inference(inputs_)) {
      values[name] = value.is_tensor() ? Value(value.tensor().copy({})) : value;
    }
    return values;
  }

  void remove_attributes() {
    const std::size_t count = result_.network.graph().nodes.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::string> names;
      for (const auto& [name, value] : result_.network.graph().nodes[i].attributes) {
        names.push_back(name);
      }
      for (const auto& name : names) {
        onnx::Model model = result_.network.model();
        model.graph.nodes[i].attributes.erase(name);
        (void)differs_if_it_is_one(std::move(model), result_.inputs);
      }
    }
  }

  void halve_sizes() {
    for (const std::int64_t size : sizes_in(result_.network, result_.inputs)) {
      for (std::int64_t now = size, smaller = 1; now > 1; smaller = now / 2) {
        auto shrunk = with_size(result_.network, result_.inputs, now, smaller);
        const bool still = differs_if_it_is_one(std::move(shrunk.model), shrunk.inputs);
        if (!still && smaller == now / 2) break;
        if (still) now = smaller;
        if (still && smaller == 1) break;
      }
    }
  }

  bool differs_if_it_is_one(onnx::Model model, const ValueMap& fed) {
    try {
      return differs(Network(std::move(model)), fed);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      return false;
    }
  }

  void tell_answers() {
    try {
      const auto reference = reference_(result_.network.copy());
      const RoundingJudge judge(*reference, result_.inputs, {}, options_.interrupt);
      for (const auto& one : judge.found().expected) {
        result_.expected[one.tensor.substr(one.tensor.find(' ') + 1)] = one.own;
      }
      if (whole_.kind != Finding::Kind::answer) return;
      const auto subject = subject_(result_.network.copy());
      for (const auto& one : answers_of(*subject, result_.inputs, {})) {
        result_.answers[one.tensor.substr(one.tensor.find(' ') + 1)] = one.value;
      }
    } catch (const std::exception&) {  // the network and its inputs tell enough
    }
  }

  const Network network_;
  const MakeExecutor& subject_;
  const MakeExecutor& reference_;
  const ValueMap& inputs_;
  const ReductionOptions& options_;
  const double begin_;
  Finding whole_;
  ReducedNetwork result_;
};

}  // namespace

ReducedNetwork reduce_network(const Network& network, const MakeExecutor& subject,
                              const MakeExecutor& reference, const ValueMap& inputs,
                              const ReductionOptions& options) {
  return Reduction(network, subject, reference, inputs, options).run();
}

}  // namespace d5
