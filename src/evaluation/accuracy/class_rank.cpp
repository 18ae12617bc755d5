// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/class_rank.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"

namespace d5::detail {
namespace {

/// Integers that an answer or a data set holds under `name`.
const Tensor& integers_called(const std::string& name, const ValueMap& values,
                              const std::string& measure, const char* who) {
  const Tensor& tensor = judged_tensor(name, values, measure, who);
  if (tensor.dtype() == DType::int64) return tensor;
  throw TypeError(fmt::format("accuracy {}: '{}' is {}, expected int64", measure, name,
                              to_string(tensor.desc())));
}

}  // namespace

double ClassRank::judge(const ValueMap& answer, const ValueMap& right) {
  const Tensor& classes = integers_called("classes", answer, name_, "the answer");
  const Tensor& label = integers_called("label", right, name_, "the data set");
  if (classes.elements() < k_ || label.elements() != 1) {
    throw ShapeError(fmt::format("accuracy {}: {} classes and {} labels, expected {} or more and 1",
                                 name_, classes.elements(), label.elements(), k_));
  }
  const auto* first = classes.data<std::int64_t>();
  const bool found = std::find(first, first + k_, *label.data<std::int64_t>()) != first + k_;
  right_.push_back(found ? 1 : 0);
  return right_.back();
}

Measurement ClassRank::record() const {
  Measurement record = accuracy_record(name_);
  record.statistic = {.of = Statistic::Of::share};
  record.samples = right_;
  return record;
}

}  // namespace d5::detail
