// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/validation/complaint.hpp"
#include "level0_ops/validation/delta_debugging.hpp"
#include "level1_network/graph/network_parts.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/validation/bounds_off.hpp"
#include "level1_network/validation/difference_look.hpp"
#include "level1_network/validation/smaller_sizes.hpp"

namespace d5 {
namespace {

/// Turns the inputs of a part into constants, or into parameters if floating-point, so that their
/// gradients count.
void make_parameters(Network& part, ValueMap& fed) {
  onnx::Model model = part.model();
  for (auto input = fed.begin(); input != fed.end();) {
    const auto& [name, value] = *input;
    if (!value.is_tensor()) {
      ++input;
      continue;
    }
    model.graph.initializers[name] = value.tensor();
    std::erase_if(model.graph.inputs, [&](const auto& info) { return info.name == name; });
    input = fed.erase(input);
  }
  part = Network(std::move(model));
}

class Reduction {
 public:
  Reduction(const Network& network, const MakeExecutor& subject, const MakeExecutor& reference,
            const ValueMap& inputs, const ReductionOptions& options)
      : look_(subject, reference, options), options_(options), begin_(now_seconds()) {
    result_.network = network.copy();
    result_.inputs = inputs;
    result_.nodes_before = network.graph().nodes.size();
  }

  ReducedNetwork run() {
    if (draws_random_numbers(result_.network.graph())) {
      throw ValueError(fmt::format(
          "network '{}' draws random numbers, which differ in every framework: replace its random "
          "nodes by constants, or see 'd5 net check --by-node'",
          printable(result_.network.name())));
    }
    if (!go_on()) look_at_the_whole();
    if (result_.difference.kind != DifferenceKind::none) {
      try {
        if (!result_.is_smallest) make_smallest();
        result_.is_smallest = true;
      } catch (const Interrupted&) {  // the smallest so far is the answer
      }
      const bool is_less = result_.network.graph().nodes.size() < result_.nodes_before;
      if (is_less || !options_.interrupt.due()) look_.tell_answers(result_);
    }
    result_.seconds = seconds();
    return std::move(result_);
  }

 private:
  static constexpr int kRuns = 3;

  /// Continues from an earlier reduction; false if its result no longer differs.
  bool go_on() {
    if (!options_.from) return false;
    const ReducedNetwork& before = *options_.from;
    for (int i = 0; i < kRuns; ++i) {
      whole_ = {before.difference.kind, before.size_before, before.difference.words};
      const double begun = now_seconds();
      const NetworkDifference found = look_.look(before.network, before.inputs);
      if (!is_the_same(found)) continue;
      limit_tries(now_seconds() - begun);
      result_ = before;
      seconds_before_ = before.seconds;
      result_.difference = found;
      return true;
    }
    return false;
  }

  void look_at_the_whole() {
    whole_ = {};
    const double begun = now_seconds();
    const int runs = options_.slower > 0 ? 1 : kRuns;  // times are looked at twice each
    for (int i = 0; i < runs; ++i) {
      const NetworkDifference found = look_.look(result_.network, result_.inputs);
      if (i == 0) limit_tries(now_seconds() - begun);
      ++result_.runs;
      if (found.kind == DifferenceKind::none) continue;
      ++result_.differing_runs;
      if (whole_.kind == DifferenceKind::none) whole_ = found;
      if (found.kind == DifferenceKind::ended && i == 0) break;  // maybe after a long time
    }
    result_.difference = whole_;
    result_.size_before = whole_.size;
  }

  [[nodiscard]] double seconds() const { return seconds_before_ + now_seconds() - begin_; }

  void limit_tries(double whole_seconds) {
    constexpr double kLeast = 10, kTimes = 10;
    look_.limit(std::max(kLeast, kTimes * whole_seconds));
  }

  /// Throws: Interrupted, at the end of the time limit.
  bool differs(const Network& part, const ValueMap& fed) {
    options_.interrupt.check("reduce");
    if (now_seconds() - begin_ > options_.most_seconds) throw Interrupted("reduce: time is over");
    const bool comes_and_goes = result_.differing_runs < result_.runs;
    for (int i = 0; i < (comes_and_goes ? kRuns : 1); ++i) {
      ++result_.tries;
      NetworkDifference found;
      try {
        found = look_.look(part, fed);
      } catch (const Interrupted&) {
        throw;
      } catch (const Error&) {  // the reference cannot run this part
        return false;
      }
      const bool same = is_the_same(found);
      if (same) {
        result_.network = part;
        result_.inputs = fed;
        result_.difference = found;
        result_.seconds = seconds();
      }
      if (options_.on_try) {
        options_.on_try({result_.network.graph().nodes.size(), result_.tries, seconds()});
      }
      if (same && options_.on_smaller) options_.on_smaller(result_);
      if (same) return true;
    }
    return false;
  }

  /// Rejects another, smaller difference, and another error.
  [[nodiscard]] bool is_the_same(const NetworkDifference& found) const {
    if (found.kind != whole_.kind) return false;
    switch (found.kind) {
      case DifferenceKind::none:
        return false;
      case DifferenceKind::answer:
      case DifferenceKind::gradient:
        return found.size >= least_ &&
               (found.size > kDoubtfulBounds || whole_.size <= kDoubtfulBounds);
      case DifferenceKind::slower:
        return true;
      case DifferenceKind::thrown:
      case DifferenceKind::ended:
        return is_same_complaint(found.words, whole_.words);
    }
    return false;
  }

  void make_smallest() {
    remove_nodes();
    remove_attributes();
    // Half of a small error must remain, and at least two bounds: at the edge of rounding nothing
    // is evidence.
    const double size = result_.difference.size;
    least_ = std::min(size, std::clamp(size / 2, 2.0, kDoubtfulBounds));
    while (shrink_sizes()) {
    }
  }

  void remove_nodes() {
    const Network before = result_.network;
    const std::vector<onnx::Node> nodes = before.graph().nodes;
    if (nodes.size() < 2) return;
    const ValueMap values = look_.all_values(before, result_.inputs);
    std::vector<std::size_t> places(nodes.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::set<std::vector<std::size_t>> known;  // parts that do not differ
    (void)smallest_failing(places, [&](const std::vector<std::size_t>& some) {
      if (known.contains(some)) return false;
      std::vector<onnx::Node> chosen;
      for (const std::size_t place : some) chosen.push_back(nodes[place]);
      try {
        Network part = part_of(chosen, before, values);
        ValueMap fed;
        for (const auto& name : part.input_names()) fed[name] = values.at(name);
        if (options_.passes == ReductionOptions::Passes::both) make_parameters(part, fed);
        if (differs(part, fed)) return true;
      } catch (const Interrupted&) {
        throw;
      } catch (const Error&) {  // values without a type: not a valid part
      }
      known.insert(some);
      return false;
    });
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

  /// Whether any is smaller now.
  bool shrink_sizes() {
    bool any = false;
    for (const std::int64_t size : sizes_in(result_.network, result_.inputs)) {
      std::int64_t now = size;
      (void)least_failing(size, [&](std::int64_t smaller) {
        auto shrunk = with_size(result_.network, result_.inputs, now, smaller);
        if (!differs_if_it_is_one(std::move(shrunk.model), shrunk.inputs)) return false;
        now = smaller;
        return any = true;
      });
    }
    // Some sizes are equal by chance, such as a width and a number of channels.
    for (const OneSize& one : dimensions_in(result_.network, result_.inputs)) {
      const auto still = [&](std::int64_t smaller) {
        auto shrunk = with_dimension(result_.network, result_.inputs, one, smaller);
        return differs_if_it_is_one(std::move(shrunk.model), shrunk.inputs);
      };
      if (!still(one.size - 1)) continue;
      (void)least_failing(one.size - 1, still);
      any = true;
    }
    return any;
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

  DifferenceLook look_;
  const ReductionOptions& options_;
  const double begin_;
  double least_ = 0;           ///< bounds that a part is off
  double seconds_before_ = 0;  ///< time of the reduction that this one continues
  NetworkDifference whole_;
  ReducedNetwork result_;
};

}  // namespace

ReducedNetwork reduce_network(const Network& network, const MakeExecutor& subject,
                              const MakeExecutor& reference, const ValueMap& inputs,
                              const ReductionOptions& options) {
  if (options.slower > 0 && options.passes == ReductionOptions::Passes::both) {
    throw ValueError(
        "a reduction compares either times, which are forward only, or gradients, not both");
  }
  return Reduction(network, subject, reference, inputs, options).run();
}

}  // namespace d5
