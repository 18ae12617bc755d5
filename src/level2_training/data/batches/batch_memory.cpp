// SPDX-License-Identifier: Apache-2.0
#include "level2_training/data/batches/batch_memory.hpp"

#include <algorithm>
#include <string>

#include "d5/core/trace/trace.hpp"

namespace d5::detail {

BatchMemory::BatchMemory(const BatchSource& source, std::int64_t samples, std::int64_t pieces)
    : source_(source) {
  batch_.size = samples;
  errors_.resize(1);
  if (samples == 0) return;  // no values: nothing runs on them
  const auto& fields = source_.dataset->fields();
  const auto whole = empty_batch(*source_.dataset, samples);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    batch_.values[fields[f].name] = whole[f];
    if (whole[f].defined()) continue;
    batch_.values[length_field(fields[f].name)] =
        padded_.emplace_back(*source_.dataset, f, samples, source_.pad).lengths();
  }
  const bool apart = !padded_.empty() || !source_.one_draw;
  reads_.resize(std::size_t(apart ? samples : std::min(pieces, samples)));
  errors_.resize(reads_.size() + 1);
  for (std::size_t piece = 0; piece < reads_.size(); ++piece) {
    for (const Tensor& field : whole) {
      reads_[piece].push_back(!field.defined() ? Tensor()
                                               : field.slice(std::int64_t(begin_of(piece)),
                                                             std::int64_t(begin_of(piece + 1))));
    }
  }
}

void BatchMemory::begin(const BatchPlan& plan) {
  plan_ = plan;
  samples_.assign(plan.samples.begin(), plan.samples.end());
  draws_.assign(plan.draws.begin(), plan.draws.end());
  std::ranges::fill(errors_, nullptr);
  batch_.epoch = plan.epoch;
  batch_.index = plan.index;
  batch_.global_size = plan.global_size;
  batch_.samples = samples_;
  batch_.draws = draws_;
}

void BatchMemory::read(std::size_t piece) noexcept {
  try {
    const Span span("data", [&] { return "read " + source_.dataset->name(); });
    const std::size_t begin = begin_of(piece), end = begin_of(piece + 1);
    source_.dataset->read(
        std::span(samples_).subspan(begin, end - begin),
        {.seed = source_.seed, .epoch = draws_.empty() ? plan_.epoch : draws_[begin]},
        reads_[piece]);
  } catch (...) {
    errors_[piece] = std::current_exception();
  }
}

void BatchMemory::complete(double seconds) noexcept {
  batch_.making_seconds = seconds;
  if (padded_.empty() || std::ranges::any_of(errors_, [](const auto& e) { return e != nullptr; })) {
    return;
  }
  try {
    for (PaddedField& field : padded_) {
      field.gather(reads_);
      // Assigning to a tensor of the same rank reuses its memory.
      batch_.values.find(source_.dataset->fields()[field.field()].name)->second.tensor() =
          field.values();
    }
  } catch (...) {
    errors_.back() = std::current_exception();
  }
}

const Batch& BatchMemory::batch() const {
  for (const auto& error : errors_) {
    if (error) std::rethrow_exception(error);
  }
  return batch_;
}

}  // namespace d5::detail
