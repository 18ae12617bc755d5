// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/classification.hpp"

#include <algorithm>

#include "d5/core/registry.hpp"

namespace d5 {

void ClassificationNames::declare(OptionList& options) {
  options.add("logits", logits, "network output with a score for each class");
  options.add("label", label, "field of a batch with the right class");
  options.add("ignored", ignored,
              "class of targets that count nothing; left out: the one that the loss ignores");
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

}  // namespace detail
}  // namespace d5
