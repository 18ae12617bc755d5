// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// What one request asks: dimension 0 of each input is the row.
struct RequestRows {
  ValueMap inputs = {};
  std::int64_t rows = 0;
};

/// Rows [begin, end) of a request.
struct RowRange {
  const RequestRows* request = nullptr;
  std::int64_t begin = 0, end = 0;
};

/// What a range became, or why not.
struct RangeAnswer {
  RowRange range;
  ValueMap outputs = {};
  std::exception_ptr fault = {};
};

/// Joins ranges that go on where the one before ends.
[[nodiscard]] std::vector<RowRange> joined(std::span<const RowRange> ranges);

/// Asks `predict` for all ranges, as few times as their shapes allow, and copies what each gets of
/// it. A call for several that fails is made for each by itself; one that fails then has a fault.
[[nodiscard]] std::vector<RangeAnswer> answer_rows(
    std::span<const RowRange> ranges,
    const std::function<const ValueMap&(const ValueMap&)>& predict);

/// What all ranges of one request say, in the order of its rows.
/// Throws: the fault of one that has any; ShapeError where they do not fit each other.
[[nodiscard]] ValueMap outputs_of(std::vector<RangeAnswer> answers);

/// Tensors behind each other along dimension 0; they agree in all else.
[[nodiscard]] Tensor behind_each_other(std::span<const Tensor> tensors);

}  // namespace d5::detail
