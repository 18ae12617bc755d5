// SPDX-License-Identifier: Apache-2.0
#include "serving/inference/request_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

/// Whether samples of two requests fit into one batch.
bool alike(const RequestRows& a, const RequestRows& b) {
  return std::ranges::equal(a.inputs, b.inputs, [](const auto& one, const auto& other) {
    const TensorDesc& x = one.second.tensor().desc();
    const TensorDesc& y = other.second.tensor().desc();
    return one.first == other.first && x.dtype == y.dtype &&
           std::ranges::equal(x.shape.dims().subspan(1), y.shape.dims().subspan(1));
  });
}

Tensor rows_of(const Tensor& tensor, std::int64_t begin, std::int64_t end) {
  return begin == 0 && end == tensor.shape()[0] ? tensor : tensor.slice(begin, end);
}

ValueMap inputs_of(std::span<const RowRange> ranges) {
  ValueMap inputs;
  for (const auto& [name, value] : ranges[0].request->inputs) {
    std::vector<Tensor> parts;
    for (const RowRange& range : ranges) {
      const Tensor& all = range.request->inputs.at(name).tensor();
      parts.push_back(rows_of(all, range.begin, range.end));
    }
    inputs[name] = parts.size() == 1 ? parts[0] : behind_each_other(parts);
  }
  return inputs;
}

std::int64_t rows_in(std::span<const RowRange> ranges) {
  std::int64_t rows = 0;
  for (const RowRange& range : ranges) rows += range.end - range.begin;
  return rows;
}

/// Each range's rows of `outputs`.
std::vector<RangeAnswer> cut(std::span<const RowRange> ranges, const ValueMap& outputs) {
  const std::int64_t rows = rows_in(ranges);
  const bool is_whole = ranges.size() == 1 && rows == ranges[0].request->rows;
  std::vector<RangeAnswer> answers;
  for (const RowRange& range : ranges) answers.push_back({.range = range});
  for (const auto& [name, value] : outputs) {
    const Tensor& all = value.tensor();
    if (!is_whole && (all.shape().rank() == 0 || all.shape()[0] != rows)) {
      throw ShapeError(fmt::format(
          "output '{}' of {} samples is {}: its rows are no samples, so that they cannot be "
          "answered together; ask for one batch at a time, and serve it with batches of 1",
          printable(name), rows, to_string(all.desc())));
    }
    std::int64_t row = 0;
    for (RangeAnswer& answer : answers) {
      const std::int64_t end = row + answer.range.end - answer.range.begin;
      answer.outputs[name] = is_whole ? all.copy() : rows_of(all, row, end).copy();
      row = end;
    }
  }
  return answers;
}

AnsweredRows execute(std::span<const RowRange> batch,
                     const std::function<const ValueMap&(const ValueMap&)>& predict) {
  const std::int64_t begun = Trace::now_ns();
  const ValueMap inputs = inputs_of(batch);
  const std::int64_t prepared = Trace::now_ns();
  const ValueMap& outputs = predict(inputs);
  const std::int64_t predicted = Trace::now_ns();
  AnsweredRows answered{.answers = cut(batch, outputs)};
  const Execution execution{.rows = rows_in(batch),
                            .input_ns = prepared - begun,
                            .infer_ns = predicted - prepared,
                            .output_ns = Trace::now_ns() - predicted};
  for (RangeAnswer& answer : answered.answers) answer.execution = execution;
  answered.executions = {execution};
  return answered;
}

}  // namespace

std::vector<RowRange> joined(std::span<const RowRange> ranges) {
  std::vector<RowRange> result;
  for (const RowRange& range : ranges) {
    const bool goes_on = !result.empty() && result.back().request == range.request &&
                         result.back().end == range.begin;
    if (goes_on) {
      result.back().end = range.end;
    } else {
      result.push_back(range);
    }
  }
  return result;
}

AnsweredRows answer_rows(std::span<const RowRange> ranges,
                         const std::function<const ValueMap&(const ValueMap&)>& predict) {
  AnsweredRows answered;
  const auto add = [&](AnsweredRows more) {
    std::ranges::move(more.answers, std::back_inserter(answered.answers));
    std::ranges::move(more.executions, std::back_inserter(answered.executions));
  };
  while (!ranges.empty()) {
    const auto other = std::ranges::find_if_not(
        ranges, [&](const RowRange& range) { return alike(*ranges[0].request, *range.request); });
    const auto batch = ranges.first(std::size_t(other - ranges.begin()));
    ranges = ranges.subspan(batch.size());
    try {
      add(execute(batch, predict));
    } catch (...) {
      if (batch.size() == 1) {
        answered.answers.push_back({.range = batch[0], .fault = std::current_exception()});
        continue;
      }
      for (const RowRange& one : batch) add(answer_rows({&one, 1}, predict));
    }
  }
  return answered;
}

ValueMap outputs_of(std::vector<RangeAnswer> answers) {
  for (const RangeAnswer& answer : answers) {
    if (answer.fault) std::rethrow_exception(answer.fault);
  }
  if (answers.size() == 1) return std::move(answers[0].outputs);
  std::ranges::sort(answers, {}, [](const RangeAnswer& answer) { return answer.range.begin; });
  ValueMap outputs;
  for (const auto& [name, first] : answers.at(0).outputs) {
    std::vector<Tensor> parts;
    for (const RangeAnswer& answer : answers) parts.push_back(answer.outputs.at(name).tensor());
    outputs[name] = behind_each_other(parts);
  }
  return outputs;
}

Tensor behind_each_other(std::span<const Tensor> tensors) {
  std::vector<std::int64_t> sizes(tensors[0].shape().begin(), tensors[0].shape().end());
  sizes[0] = 0;
  for (const Tensor& tensor : tensors) sizes[0] += tensor.shape()[0];
  Tensor all = Tensor::empty(tensors[0].dtype(), Shape(sizes));
  std::int64_t row = 0;
  for (const Tensor& tensor : tensors) {
    const std::int64_t rows = tensor.shape()[0];
    if (rows > 0) all.slice(row, row + rows).copy_from(tensor);
    row += rows;
  }
  return all;
}

}  // namespace d5::detail
