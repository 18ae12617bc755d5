// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/class_labels.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

ClassLabels::ClassLabels(std::optional<std::vector<std::int64_t>> integers,
                         std::optional<std::vector<std::string>> texts, std::string_view who) {
  if (integers) integers_ = std::move(*integers);
  if (texts) texts_ = std::move(*texts);
  if (integers_.empty() == texts_.empty()) {
    throw ValueError(
        fmt::format("{}: {} integers and {} texts as labels, expected one of these lists", who,
                    integers_.size(), texts_.size()));
  }
}

void ClassLabels::write(std::size_t place, Tensor& y, std::int64_t i) const {
  if (texts_.empty()) {
    y.data<std::int64_t>()[i] = integers_[place];
  } else {
    y.data<std::string>()[i] = texts_[place];
  }
}

}  // namespace d5::detail
