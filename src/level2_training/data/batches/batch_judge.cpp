// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/batch_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr const char* kJudge = "its samples, read alone";

/// Whether an array of shape `small` is at the start, in every dimension from `d` on, of an array
/// of shape `large`; an element is `unit` of T.
template <class T>
bool stands_in_front(const T* array, const Shape& small, const T* large_array, const Shape& large,
                     std::size_t d, std::int64_t unit) {
  if (d == small.rank()) return std::equal(array, array + unit, large_array);
  const std::int64_t step = small.elements(d + 1, small.rank()) * unit;
  const std::int64_t large_step = large.elements(d + 1, large.rank()) * unit;
  for (std::int64_t i = 0; i < small[d]; ++i) {
    if (!stands_in_front(array + i * step, small, large_array + i * large_step, large, d + 1,
                         unit)) {
      return false;
    }
  }
  return true;
}

/// Whether row `i` of `rows` begins with `sample`, {1, its shape...}.
bool is_row(const Tensor& sample, const Tensor& rows, std::int64_t i) {
  const Shape &small = sample.shape(), &large = rows.shape();
  if (sample.dtype() != rows.dtype() || small.rank() != large.rank()) return false;
  for (std::size_t d = 0; d < small.rank(); ++d) {
    if (small[d] > large[d]) return false;
  }
  const std::int64_t row = i * large.elements(1, large.rank());
  if (rows.dtype() == DType::string) {
    return stands_in_front(sample.data<std::string>(), small, rows.data<std::string>() + row, large,
                           1, 1);
  }
  const auto unit = std::int64_t(size_of(rows.dtype()));
  return stands_in_front(static_cast<const std::byte*>(sample.raw()), small,
                         static_cast<const std::byte*>(rows.raw()) + row * unit, large, 1, unit);
}

Verdict wrong(const Batch& batch, const Dataset& dataset, std::size_t i, const std::string& field) {
  const std::string of = dataset.sample_name(batch.samples[i]);
  return {Verdict::Is::wrong, kJudge,
          fmt::format("epoch {}, batch {}: field '{}' of sample {} ('{}') is not what the data set "
                      "gives when it is read alone",
                      batch.epoch, batch.index, printable(field), batch.samples[i], printable(of))};
}

}  // namespace

Verdict judge_batch(const Batch& batch, const Dataset& dataset, std::uint64_t seed) {
  if (std::int64_t(batch.samples.size()) != batch.size) {
    return {Verdict::Is::unknown, "",
            "the sampler does not say which samples are in a batch (Batch::samples)"};
  }
  std::vector<Tensor> sample = empty_batch(dataset, 1);
  for (std::size_t i = 0; i < batch.samples.size(); ++i) {
    const Draw draw{.seed = seed, .epoch = batch.draws.empty() ? batch.epoch : batch.draws[i]};
    dataset.read(batch.samples.subspan(i, 1), draw, sample);
    for (std::size_t f = 0; f < sample.size(); ++f) {
      const std::string& field = dataset.fields()[f].name;
      const auto rows = batch.values.find(field);
      if (rows == batch.values.end() ||
          !is_row(sample[f], rows->second.tensor(), std::int64_t(i))) {
        return wrong(batch, dataset, i, field);
      }
    }
  }
  return {Verdict::Is::right, kJudge, ""};
}

}  // namespace d5::detail
