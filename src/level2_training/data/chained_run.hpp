// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "d5/level2_training/data/sample_step.hpp"

namespace d5::detail {

inline SampleView view_of(DType dtype, std::span<const std::int64_t> dims, void* data) {
  SampleView view{.dtype = dtype, .rank = dims.size(), .data = data};
  std::ranges::copy(dims, view.sizes.begin());
  return view;
}

/// Memory that grows on demand and is reused.
class Buffer {
 public:
  [[nodiscard]] void* of(std::size_t bytes) {
    const auto wanted = std::int64_t(bytes);
    if (!memory_.defined() || memory_.elements() < wanted) {
      memory_ = Tensor::empty(DType::uint8, {wanted + wanted / 4});
    }
    return memory_.raw();
  }

 private:
  Tensor memory_;
};

/// Two buffers, used alternately.
struct Memories {
  std::array<Buffer, 2> buffers;
  std::size_t next = 0;
  [[nodiscard]] void* other(std::size_t bytes) { return buffers[next ^= 1].of(bytes); }
};

/// A step's run within a chain: results go to the other buffer; the last step's go to the sample's
/// destination.
class ChainedRun final : public StepRun {
 public:
  ChainedRun(const SampleView& input, RandomStream& random, Memory* memory, Memories& memories,
             bool owns_input, const SampleView& wanted)
      : StepRun(input, random, memory),
        memories_(memories),
        owns_input_(owns_input),
        wanted_(wanted) {}

  using StepRun::output;
  SampleView output(DType dtype, std::span<const std::int64_t> dims) override {
    result_ = view_of(dtype, dims, nullptr);
    owns_ = true;
    const bool fits =
        wanted_.data && wanted_.dtype == dtype && std::ranges::equal(wanted_.dims(), dims);
    result_.data = fits ? wanted_.data : memories_.other(result_.bytes());
    return result_;
  }
  SampleView edit() override {
    if (owns_input_ && !wanted_.data) {
      keep();
      return result_;
    }
    const SampleView copy = output(input().dtype, input().dims());
    std::memcpy(copy.data, input().data, copy.bytes());
    return copy;
  }
  void keep() override {
    result_ = input();
    owns_ = owns_input_;
  }

  [[nodiscard]] const SampleView& result() const { return result_; }
  [[nodiscard]] bool owns_result() const { return owns_; }

 private:
  Memories& memories_;
  bool owns_input_, owns_ = false;
  SampleView wanted_, result_;
};

}  // namespace d5::detail
