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

/// The inputs of one request; dimension 0 of each is the row.
struct RequestRows {
  ValueMap inputs = {};
  std::int64_t rows = 0;
};

/// Rows [begin, end) of a request.
struct RowRange {
  const RequestRows* request = nullptr;
  std::int64_t begin = 0, end = 0;
};

/// A call of a model with a batch, and how long its steps took, in ns.
struct Execution {
  std::int64_t rows = 0;
  std::int64_t input_ns = 0, infer_ns = 0, output_ns = 0;
};

/// Outputs of a range, or the reason why there are none.
struct RangeAnswer {
  RowRange range;
  ValueMap outputs = {};
  std::exception_ptr fault = {};
  Execution execution = {};  ///< the call that gave the outputs
};

struct AnsweredRows {
  std::vector<RangeAnswer> answers = {};
  std::vector<Execution> executions = {};  ///< without those that failed
};

/// Joins consecutive ranges of a request.
[[nodiscard]] std::vector<RowRange> joined(std::span<const RowRange> ranges);

/// Calls `predict` for all ranges, as few times as their shapes allow, and copies the outputs of
/// each. A failed call for several ranges is repeated for each alone; one that fails again has a
/// fault.
[[nodiscard]] AnsweredRows answer_rows(
    std::span<const RowRange> ranges,
    const std::function<const ValueMap&(const ValueMap&)>& predict);

/// The outputs of all ranges of one request, in the order of rows.
/// Throws: the fault of a range; ShapeError if the outputs do not fit together.
[[nodiscard]] ValueMap outputs_of(std::vector<RangeAnswer> answers);

/// Concatenates tensors along dimension 0; all other dimensions agree.
[[nodiscard]] Tensor behind_each_other(std::span<const Tensor> tensors);

}  // namespace d5::detail
