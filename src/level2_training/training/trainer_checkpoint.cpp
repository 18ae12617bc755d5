// SPDX-License-Identifier: Apache-2.0
// Saves the trainer's state to a checkpoint, and restores it.
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <typeinfo>

#include "core/measuring/trust.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/network_mode.hpp"
#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "level1_network/nodes/identical.hpp"
#include "level2_training/training/late_doubts.hpp"

namespace d5 {
namespace {

constexpr std::string_view kParameter = "parameter/", kConstant = "constant/",
                           kOptimizer = "optimizer/", kHyper = "hyper/", kExecutor = "executor/",
                           kMetric = "metric/", kDoubts = "doubts", kParts = "settings";

std::string joined(std::string_view prefix, std::string_view name) {
  return std::string(prefix).append(name);
}

/// Stores lines of text as a tensor, because checkpoints hold only tensors.
Tensor tensor_of(const std::vector<std::string>& lines) {
  const std::string text = fmt::format("{}", fmt::join(lines, "\n"));
  return Tensor::vector(std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::vector<std::string> lines_of(const Tensor& tensor) {
  const auto bytes = tensor.span<std::uint8_t>();
  std::istringstream text(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(printable_message(line));
  return lines;
}

/// Names of tensors that are not parameters but may change: running statistics.
std::vector<std::string> constants(Network& network) {
  std::set<std::string, std::less<>> parameters;
  for (const Parameter& parameter : network.parameters()) parameters.insert(parameter.name);
  std::vector<std::string> result;
  for (const auto& [name, value] : network.graph().initializers) {
    if (!parameters.contains(name) && fits_checkpoint(value.dtype())) result.push_back(name);
  }
  return result;
}

/// Wherever the two are.
bool are_alike(const TensorDesc& a, const TensorDesc& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

/// The constants that a network needs to continue its training.
std::set<std::string> running_statistics(const Network& network) {
  std::set<std::string> result;
  for (const auto& [constant, output] : graph_in_mode(network, NetworkMode::training).updates) {
    result.insert(constant);
  }
  for (const auto& [constant, output] : network.updates()) result.insert(constant);
  return result;
}

/// Hyper-parameters that changed since the optimizer was made; others follow from its options.
ValueMap changed(const HyperParameters& numbers) {
  ValueMap result;
  for (const auto& name : numbers.names()) {
    const double value = numbers.at(name);
    if (value != numbers.initial(name)) result[name] = Tensor::scalar(value);
  }
  return result;
}

/// The name of its class, as "ElementOptimizer<Adam>".
std::string class_of(const Optimizer& optimizer) {
  const std::unique_ptr<char, decltype(&std::free)> word(
      abi::__cxa_demangle(typeid(optimizer).name(), nullptr, nullptr, nullptr), &std::free);
  std::string name = word ? word.get() : typeid(optimizer).name();
  for (const std::string_view place : {"(anonymous namespace)::", "d5::"}) {
    for (auto at = name.find(place); at != std::string::npos; at = name.find(place)) {
      name.erase(at, place.size());
    }
  }
  return name;
}

/// Settings of the sampler and of the optimizer, as lines "sampler.batch_size: 64": a resumed run
/// with other ones would be neither the old run nor a new one.
std::vector<std::string> settings_of_parts(const Sampler& sampler, Optimizer& optimizer) {
  const HyperParameters& numbers = optimizer.hyper_parameters();
  std::vector<std::string> lines{fmt::format("optimizer: {}", class_of(optimizer))};
  for (const auto& [name, value] : sampler.settings()) {
    lines.push_back(fmt::format("sampler.{}: {}", name, value));
  }
  for (std::size_t group = 0; group < numbers.groups(); ++group) {
    const std::string of = group == 0 ? "" : fmt::format("groups.{}.", group - 1);
    for (const auto& name : numbers.names()) {
      lines.push_back(fmt::format("optimizer.{}{}: {}", of, name, numbers.initial(name, group)));
    }
  }
  return lines;
}

std::map<std::string, std::string> by_name(const std::vector<std::string>& lines) {
  std::map<std::string, std::string> settings;
  for (const auto& line : lines) {
    const auto colon = line.find(": ");
    settings[line.substr(0, colon)] = colon == std::string::npos ? "" : line.substr(colon + 2);
  }
  return settings;
}

/// An entry of `wanted` that `has` lacks or that differs; empty if there is none.
std::string first_difference(const ValueMap& wanted, const ValueMap& has) {
  for (const auto& [name, value] : wanted) {
    const auto place = has.find(name);
    if (place == has.end() ||
        !identical(place->second.tensor().on_host(), value.tensor().on_host())) {
      return name;
    }
  }
  return "";
}

/// "optimizer.learning_rate: 0.1 in the checkpoint, 0.01 here"; empty if one of them is unknown.
std::string differences(const std::map<std::string, std::string>& saved,
                        const std::map<std::string, std::string>& here) {
  if (saved.empty() || here.empty()) return "";
  const auto word = [](const auto& settings, const std::string& name) {
    const auto place = settings.find(name);
    return place == settings.end() ? "not set" : printable(place->second);
  };
  std::map<std::string, std::string> all = saved;
  all.insert(here.begin(), here.end());
  std::string words;
  for (const auto& [name, value] : all) {
    const std::string then = word(saved, name), now = word(here, name);
    if (then == now) continue;
    words += fmt::format("{}{}: {} in the checkpoint, {} here", words.empty() ? "" : "; ",
                         printable(name), then, now);
  }
  return words;
}

/// The entries of `tensors` with `prefix`, under the names without it.
ValueMap below(const ValueMap& tensors, std::string_view prefix) {
  ValueMap result;
  for (auto it = tensors.lower_bound(prefix); it != tensors.end() && it->first.starts_with(prefix);
       ++it) {
    result[it->first.substr(prefix.size())] = it->second;
  }
  return result;
}

}  // namespace

void Trainer::save_checkpoint(const std::string& path) {
  Checkpoint checkpoint{.recipe = options_.recipe,
                        .epoch = epoch_,
                        .batch = batch_,
                        .step = step_,
                        .settings = options_.settings,
                        .ranks = options_.ranks,
                        .tensors = {}};
  Network& network = optimizer_.executor().network();
  for (const Parameter& parameter : network.parameters()) {
    checkpoint.tensors[joined(kParameter, parameter.name)] = parameter.value;
  }
  for (const std::string& name : constants(network)) {
    checkpoint.tensors[joined(kConstant, name)] = network.fetch(name);
  }
  const auto add = [&](std::string_view prefix, const ValueMap& state) {
    for (const auto& [name, value] : state) checkpoint.tensors[joined(prefix, name)] = value;
  };
  add(kOptimizer, optimizer_.state());
  add(kHyper, changed(optimizer_.hyper_parameters()));
  if (options_.recipe.empty()) {  // a recipe's settings are all there are
    checkpoint.tensors[std::string(kParts)] = tensor_of(settings_of_parts(train_, optimizer_));
  }
  add(kExecutor, optimizer_.executor().state());
  add(kMetric, metric_state_);
  add(kMetric, metric_state());
  write_checkpoint(checkpoint, path);
}

void Trainer::resume(const std::string& path) {
  expect_at_rest("resume");
  const Checkpoint checkpoint = read_checkpoint(path);
  const auto fail = [&](const std::string& what) {
    throw FormatError(fmt::format("checkpoint '{}': {}", printable(path), what));
  };
  const auto expect_equal = [&](const std::map<std::string, std::string>& saved,
                                const std::map<std::string, std::string>& here) {
    const auto words = differences(saved, here);
    if (words.empty()) return;
    fail(
        fmt::format("was begun with other settings: {}; resume with what it was begun with, or "
                    "begin another",
                    words));
  };
  if (checkpoint.recipe != options_.recipe) {
    expect_equal(checkpoint.settings, options_.settings);
    fail(fmt::format(
        "is of another recipe, of other settings{} or another model file: '{}', "
        "expected '{}'; resume with what it was begun with",
        checkpoint.ranks == options_.ranks || checkpoint.ranks == 0
            ? ""
            : fmt::format(", of {} ranks where here are {},", checkpoint.ranks, options_.ranks),
        printable(checkpoint.recipe), printable(options_.recipe)));
  }
  if (const auto parts = checkpoint.tensors.find(std::string(kParts));
      parts != checkpoint.tensors.end()) {
    expect_equal(by_name(lines_of(parts->second.tensor())),
                 by_name(settings_of_parts(train_, optimizer_)));
  }
  if (checkpoint.batch > train_.batches()) {
    fail(fmt::format("is before batch {} of an epoch, but the data make {}", checkpoint.batch,
                     train_.batches()));
  }
  // Checks everything before the first change.
  Network& network = optimizer_.executor().network();
  const ValueMap parameters = below(checkpoint.tensors, kParameter);
  if (parameters.size() != network.parameters().size()) {
    fail(fmt::format("has {} parameters, but network '{}' has {}", parameters.size(),
                     printable(network.name()), network.parameters().size()));
  }
  for (const Parameter& parameter : network.parameters()) {
    const auto saved = parameters.find(parameter.name);
    if (saved == parameters.end() ||
        !are_alike(saved->second.tensor().desc(), parameter.value.desc())) {
      fail(fmt::format("parameter '{}' is {}, but {} in network '{}'", printable(parameter.name),
                       saved == parameters.end() ? "missing" : to_string(saved->second.desc()),
                       to_string(parameter.value.desc()), printable(network.name())));
    }
  }
  const ValueMap saved_constants = below(checkpoint.tensors, kConstant);
  const auto statistics = running_statistics(network);
  for (const std::string& name : constants(network)) {
    const auto saved = saved_constants.find(name);
    const bool is_missing = saved == saved_constants.end();
    const TensorDesc& desc = network.fetch(name).desc();
    if (is_missing ? statistics.contains(name) : !are_alike(saved->second.tensor().desc(), desc)) {
      fail(fmt::format("constant '{}' is {}, but {} in network '{}'", printable(name),
                       is_missing ? "missing" : to_string(saved->second.desc()), to_string(desc),
                       printable(network.name())));
    }
  }
  for (const auto& [name, value] : saved_constants) {
    if (network.graph().initializers.contains(name) && !network.is_parameter(name)) continue;
    fail(
        fmt::format("has a constant '{}', which network '{}' lacks; resume the network that it "
                    "was begun with",
                    printable(name), printable(network.name())));
  }
  const ValueMap saved_state = below(checkpoint.tensors, kOptimizer);
  optimizer_.restore(saved_state);
  // Detects state that an optimizer did not save or did not restore.
  if (const auto lost = first_difference(saved_state, optimizer_.state()); !lost.empty()) {
    fail(
        fmt::format("the optimizer did not accept '{}' of its state; resume with the optimizer and "
                    "the modifiers that it was begun with, or fix its state() and restore()",
                    printable(lost)));
  }
  for (const auto& [name, value] : below(checkpoint.tensors, kHyper)) {
    optimizer_.hyper_parameters().set(name, value.tensor().item<double>());
  }
  optimizer_.executor().restore(below(checkpoint.tensors, kExecutor));
  for (Parameter& parameter : network.parameters()) {
    parameter.value.copy_from(parameters.find(parameter.name)->second.tensor());
  }
  for (const auto& [name, value] : saved_constants) network.feed(name, value.tensor());
  metric_state_ = below(checkpoint.tensors, kMetric);
  restore_metrics();
  epoch_ = checkpoint.epoch;
  batch_ = checkpoint.batch;
  step_ = checkpoint.step;
}

/// Includes reasons for mistrust: those that metrics were restored with, and the machine's state in
/// this run.
ValueMap Trainer::metric_state() const {
  std::vector<TrainingMetric*> metrics;
  events_.collect(metrics);
  std::vector<std::string> disturbances;
  if (watch_) disturbances = detail::disturbances(watch_->evidence_so_far());
  ValueMap result;
  for (const auto* metric : metrics) {
    const std::string prefix = metric->name() + "/";
    for (const auto& [name, value] : metric->state()) result[joined(prefix, name)] = value;
    auto doubts = metric->doubts();
    for (const auto& reason : disturbances) {
      if (!detail::is_disturbed(metric->quantity())) break;
      doubts.push_back(fmt::format("until step {}: {}", step_, reason));
    }
    if (!doubts.empty()) result[joined(prefix, kDoubts)] = tensor_of(doubts);
  }
  return result;
}

void Trainer::restore_metrics() {
  std::vector<TrainingMetric*> metrics;
  events_.collect(metrics);
  for (auto* metric : metrics) {
    const std::string prefix = metric->name() + "/";
    ValueMap state = below(metric_state_, prefix);
    for (const auto& [name, value] : state) metric_state_.erase(joined(prefix, name));
    if (const auto doubts = state.extract(std::string(kDoubts)); !doubts.empty()) {
      for (auto& line : lines_of(doubts.mapped().tensor())) metric->doubt(std::move(line));
    }
    if (!state.empty()) metric->restore(state);  // a metric that was added since begins here
  }
}

void detail::keep_late_doubts(const std::string& path, const std::vector<Measurement>& results) {
  std::map<std::string, std::string> late;
  for (const Measurement& result : results) {
    if (result.status == Status::mistrusted && is_disturbed(result.quantity)) {
      late[joined(kMetric, result.metric + "/").append(kDoubts)] = result.reason;
    }
  }
  if (late.empty() || !std::filesystem::exists(path)) return;
  Checkpoint checkpoint = read_checkpoint(path);
  const auto known = [&](const auto& entry) { return checkpoint.tensors.contains(entry.first); };
  if (std::ranges::all_of(late, known)) return;
  for (const auto& [key, reason] : late) {
    const auto line = fmt::format("until step {}: {}", checkpoint.step, reason);
    checkpoint.tensors.try_emplace(key, tensor_of({line}));
  }
  write_checkpoint(checkpoint, path);
}

}  // namespace d5
