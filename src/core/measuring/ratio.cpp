// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/ratio.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/results/inherited_doubt.hpp"

namespace d5 {
namespace {

RatioNames names_of(const Measurement& subject, const Measurement& base) {
  if (subject.framework == base.framework) return {subject.subject, base.subject};
  const auto name = [](const Measurement& side) {
    return side.framework.empty() ? side.subject : side.framework;
  };
  return {name(subject), name(base)};
}

}  // namespace

Measurement ratio_record(const Measurement& subject, const Measurement& base,
                         const RatioNames& given) {
  const RatioNames names = given.base.empty() ? names_of(subject, base) : given;
  Measurement ratio = subject;
  ratio.metric += "_ratio";
  ratio.unit = "1";
  ratio.quantity = Quantity::ratio;
  ratio.statistic = {};
  ratio.samples.clear();
  ratio.status = Status::passed;
  ratio.reason.clear();
  ratio.conditions["base"] = identity(names.base);
  for (const auto* part : {&subject, &base}) {
    if (answers_wrongly(*part)) {
      ratio.status = Status::skipped;
      ratio.reason = fmt::format("{} gives wrong answers: its {} is not compared",
                                 part == &base ? names.base : names.subject, part->metric);
      return ratio;
    }
    if (part->samples.empty() || part->status == Status::failed ||
        part->status == Status::unsupported) {
      ratio.status = Status::skipped;
      ratio.reason = fmt::format("{} has no {} to compare with",
                                 part == &base ? names.base : names.subject, part->metric);
      return ratio;
    }
    detail::inherit_doubt(ratio, *part);
  }
  const std::size_t pairs = std::min(subject.samples.size(), base.samples.size());
  for (std::size_t i = 0; i < pairs; ++i) {
    ratio.samples.push_back(subject.samples[i] / base.samples[i]);
  }
  ratio.conditions["rank test p"] = aside(rank_test(subject.samples, base.samples));
  return ratio;
}

}  // namespace d5
