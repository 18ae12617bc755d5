// SPDX-License-Identifier: Apache-2.0
#include "level1_network/trials/transform_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_summary.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level1_network/trials/differing_node.hpp"
#include "level1_network/trials/shorter_rounding.hpp"
#include "level1_network/validation/rounding_judge.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5::detail {
namespace {

/// FLOP of one forward run. A trial has about five runs, of smaller networks about fifteen; the
/// reference computes short types one number at a time.
constexpr double kMostFlop = 1e10, kMostRoundedFlop = 2e8, kPartOfSeveralDraws = 0.1;

double most_flop(Keeps keeps) { return keeps == Keeps::rounded ? kMostRoundedFlop : kMostFlop; }

constexpr double kMostWeightBytes = 1e9;  ///< limit on weights, which a trial holds three times
constexpr std::uint64_t kTrialDraws = 3;

OpenSizes sizes_of(const Settings& wishes) {
  return {.batch = std::int64_t(wishes.natural("batch", 1))};
}

double bytes_of_weights(const Network& network) {
  double bytes = 0;
  for (const auto& [name, value] : network.graph().initializers) bytes += double(value.bytes());
  return bytes;
}

/// Other ranks would have to run equally often.
bool talks_to_ranks(const Network& network) {
  return std::ranges::any_of(network.graph().nodes,
                             [](const onnx::Node& node) { return node.domain == "d5"; });
}

bool is_output(const Measurement& record) {
  return record.conditions.at("tensor").text().starts_with("output ");
}

class Trial {
 public:
  Trial(const std::string& transform, Keeps keeps, const Network& before, const Network& after,
        const Settings& wishes)
      : transform_(transform),
        keeps_(keeps),
        before_(before),
        after_(after),
        seed_(wishes.natural("seed", 0)),
        random_(draws_random_numbers(before.graph())) {
    if (keeps == Keeps::gradients) loss_ = loss_of(before);
    if (keeps == Keeps::rounded) rounding_.emplace(before, after);
  }

  std::string run(const OpenSizes& sizes) {
    NetworkInputs fed;
    try {
      fed = network_inputs("", after_, sizes, {}, seed_);
    } catch (const Error& error) {
      return fmt::format("no inputs can be drawn for it: {}", error.what());
    }
    const std::uint64_t draws =
        flop(fed.sizes) < kPartOfSeveralDraws * most_flop(keeps_) ? kTrialDraws : 1;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      if (draw > 0 && fed.made.empty()) break;
      judge(draw == 0 ? fed.values : drawn_again(after_, fed, seed_ + draw));
    }
    for (const auto& name : before_.output_names()) {
      if (compared_.contains("output " + name)) continue;
      return fmt::format("nothing was compared in output '{}': {}", printable(name), doubt_);
    }
    return "";
  }

 private:
  [[nodiscard]] double flop(const OpenSizes& sizes) const {
    try {
      return summarise(after_, sizes).total.cost.flop;
    } catch (const Error&) {
      return 0;
    }
  }

  /// Outputs of one network on its own values; a reason if it does not run.
  struct Side {
    std::shared_ptr<GraphExecutor> executor = {};
    std::vector<Answer> answers = {};
  };
  [[nodiscard]] Side run(const Network& network, const ValueMap& inputs) const {
    Side side{.executor = make_executor(without_updates(network), {.seed = seed_})};
    side.answers = answers_of(*side.executor, inputs, {.loss = loss_});
    return side;
  }

  void judge(const ValueMap& inputs) {
    Side before, after;
    try {
      before = run(before_, inputs);
    } catch (const Error& error) {
      doubt_ = fmt::format("the network before it does not run on drawn inputs: {}", error.what());
      return;
    }
    try {
      after = run(after_, inputs);
    } catch (const Unsupported& error) {  // a framework may have what the reference lacks
      doubt_ = fmt::format("the reference does not run it: {}", error.what());
      return;
    } catch (const Error& error) {
      refuse(fmt::format("what it makes of network '{}' does not run: {}",
                         printable(before_.name()), error.what()));
    }
    const bool rounds = keeps_ == Keeps::rounded;
    const auto records = judged(rounds ? after : before, rounds ? before : after, inputs);
    const Measurement* worst = nullptr;
    for (const auto& record : records) {
      const bool chosen = rounding_ && is_output(record) && rounding_->is_chosen(record);
      if (record.status == Status::failed && chosen) {
        doubt_ = record.reason + ", which rounded numbers choose";
      } else if (record.status == Status::failed && !excused(record)) {
        if (!worst) worst = &record;
      } else if (record.status != Status::mistrusted) {
        compared_.insert(record.conditions.at("tensor").text());
      } else if (is_output(record)) {
        doubt_ = record.reason;
      }
    }
    if (!worst) return;
    if (random_) {
      compared_.clear();
      doubt_ = fmt::format("the network draws random numbers: {}", worst->reason);
      return;
    }
    refuse(differing_node(before_, after_, keeps_, inputs, worst->reason));
  }

  [[nodiscard]] std::vector<Measurement> judged(const Side& judge, const Side& subject,
                                                const ValueMap& inputs) const {
    const Measurement base = error_record(printable(before_.name()), "reference");
    return RoundingJudge(*judge.executor, inputs, {.loss = loss_}).judge(base, subject.answers);
  }

  /// A removed parameter has no gradient.
  [[nodiscard]] bool excused(const Measurement& record) const {
    if (!is_output(record)) {
      constexpr std::string_view kGradient = "gradient of ";
      const std::string& tensor = record.conditions.at("tensor").text();
      return tensor.starts_with(kGradient) && !after_.is_parameter(tensor.substr(kGradient.size()));
    }
    return rounding_ && rounding_->explains(record);
  }

  [[noreturn]] void refuse(const std::string& reason) const {
    throw ContractError(fmt::format(
        "transform '{}' is refused: {}; {}", transform_, reason,
        keeps_ == Keeps::rounded
            ? "choose a type with a larger range or more digits, or leave the transform out"
            : "leave the transform out, or one that comes before it"));
  }

  const std::string& transform_;
  Keeps keeps_;
  const Network &before_, &after_;
  std::uint64_t seed_;
  bool random_;
  std::string loss_ = {};
  std::optional<ShorterRounding> rounding_ = {};
  std::set<std::string> compared_ = {};
  std::string doubt_ = "it has no value";
};

}  // namespace

std::string trial_obstacle(const Network& network, Keeps keeps, const Settings& wishes) {
  if (talks_to_ranks(network)) return "its nodes talk to other ranks";
  const double bytes = bytes_of_weights(network);
  if (bytes > kMostWeightBytes) {
    return fmt::format("its weights take {:.3g} bytes, and networks of up to {:.0e} are tried out",
                       bytes, kMostWeightBytes);
  }
  try {
    const OpenSizes sizes = network_sizes("", network, sizes_of(wishes));
    const double flop = summarise(network, sizes).total.cost.flop;
    if (flop <= most_flop(keeps)) return "";
    return fmt::format("a run takes {:.3g} FLOP, and networks of up to {:.0e} are tried out", flop,
                       most_flop(keeps));
  } catch (const Error&) {  // the trial says why
    return "";
  }
}

std::string judge_transform(const std::string& transform, Keeps keeps, const Network& before,
                            const Network& after, const Settings& wishes) {
  return Trial(transform, keeps, before, after, wishes).run(sizes_of(wishes));
}

}  // namespace d5::detail
