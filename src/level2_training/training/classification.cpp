// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/classification.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

/// Whether this rank has all outputs, and all fields that are fed.
bool sees_whole(const Trainer& trainer) {
  return trainer.options().whole || trainer.ranks_of_model() == 1;
}

/// The outputs of a batch besides the loss.
std::vector<std::string> answers(const Trainer& trainer) {
  std::vector<std::string> names = trainer.network().output_names();
  std::erase_if(names, [&](const auto& name) {
    const auto& updates = trainer.network().updates();
    return name == trainer.loss() ||
           std::ranges::any_of(updates, [&](const auto& update) { return update.second == name; });
  });
  return names;
}

/// The inputs that `output` is computed from.
std::set<std::string> sources_of(const Network& network, const std::string& output) {
  std::set<std::string> seen{output};
  std::vector<std::string> left{output};
  while (!left.empty()) {
    const std::string tensor = left.back();
    left.pop_back();
    const auto* node = network.producer(tensor);
    if (!node) continue;
    for (auto& name : read_names(*node)) {
      if (seen.insert(name).second) left.push_back(name);
    }
  }
  return seen;
}

void resolve_logits(std::string& logits, const Trainer& trainer, const std::string& who) {
  const auto known = answers(trainer);
  if (std::ranges::find(known, logits) != known.end()) return;
  if (logits == ClassificationNames().logits && known.size() == 1) {
    logits = known.front();
    return;
  }
  throw_unknown_name(fmt::format("{0}: output of network '{1}' with a score for each class (as "
                                 "{0}:logits=NAME)",
                                 who, printable(trainer.network().name())),
                     logits, known);
}

}  // namespace

void ClassificationNames::resolve(Trainer& trainer, const std::string& who) {
  if (!sees_whole(trainer)) return;
  resolve_logits(logits, trainer, who);
  detail::resolve_label(label, trainer, who, logits);
}

void ClassificationNames::declare(OptionList& options) {
  options.add("logits", logits, "network output with a score for each class");
  options.add("label", label, "field of a batch with the right class");
  options.add("ignored", ignored,
              "class of ignored targets; default: the one that the loss ignores");
}

namespace detail {

const Tensor& named(const ValueMap& values, const std::string& name, const char* kind) {
  const auto place = values.find(name);
  if (place != values.end()) return place->second.tensor();
  std::vector<std::string> known;
  for (const auto& [other, value] : values) known.push_back(other);
  throw_unknown_name(kind, name, known);
}

RightTargets count_targets(LossWeight& loss, const ClassificationNames& names, const Batch& batch,
                           const ValueMap& outputs, const std::string& metric, std::int64_t k) {
  if (batch.size == 0 && batch.global_size > 0) return {};
  const Tensor& labels = named(batch.values, names.label, (metric + ": field").c_str());
  const Tensor& scores = named(outputs, names.logits, (metric + ": output").c_str());
  const auto ignored = names.ignored == ClassificationNames::kAsLoss ? loss.ignored(names.label)
                                                                     : std::optional(names.ignored);
  RightTargets result{count_right(scores, labels, k, ignored), labels.elements()};
  if (!ignored) return result;
  dispatch(Types<std::int64_t, std::int32_t>{}, labels.dtype(), "accuracy",
           [&]<class T>() { result.seen -= std::ranges::count(labels.span<T>(), *ignored); });
  return result;
}

void resolve_label(std::string& label, const Trainer& trainer, const std::string& who,
                   const std::string& logits) {
  const auto holds_classes = [](const Dataset::Field& field) {
    return field.desc.dtype == DType::int64 || field.desc.dtype == DType::int32;
  };
  const auto& fields = trainer.train_sampler().dataset().fields();
  if (fields.empty()) return;  // a sampler without a data set: fields are checked with its batches
  const auto place = std::ranges::find(fields, label, &Dataset::Field::name);
  if (place != fields.end()) {
    if (holds_classes(*place)) return;
    throw TypeError(fmt::format("{}: field '{}' is {}, expected classes (int64, int32)", who,
                                printable(label), to_string(place->desc)));
  }
  std::vector<std::string> known, classes;
  for (const auto& field : fields) {
    known.push_back(field.name);
    if (holds_classes(field)) classes.push_back(field.name);
  }
  if (!logits.empty()) {
    const auto sources = sources_of(trainer.network(), logits);
    std::erase_if(classes, [&](const auto& name) { return sources.contains(name); });
  }
  if (label == ClassificationNames().label && classes.size() == 1) {
    label = classes.front();
    return;
  }
  throw_unknown_name(
      fmt::format("{0}: field of the training set with the right class (as {0}:label=NAME)", who),
      label, known);
}

}  // namespace detail
}  // namespace d5
