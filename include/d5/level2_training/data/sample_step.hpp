// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5 {

/// Non-owning view of one sample's tensor during its steps: dense, row-major. Cheap to copy.
struct SampleView {
  static constexpr std::size_t kMostDims = 6;
  DType dtype = DType::undefined;
  std::size_t rank = 0;
  std::array<std::int64_t, kMostDims> sizes{};
  void* data = nullptr;

  [[nodiscard]] std::span<const std::int64_t> dims() const { return {sizes.data(), rank}; }
  [[nodiscard]] std::int64_t elements() const;
  [[nodiscard]] std::size_t bytes() const { return std::size_t(elements()) * size_of(dtype); }
  /// Throws: TypeError if T is not the element type.
  template <class T>
  [[nodiscard]] T* as() const {
    if (dtype != dtype_of<T>) throw_wrong_type(dtype_of<T>);
    return static_cast<T*>(data);
  }
  template <class T>
  [[nodiscard]] std::span<T> span() const {
    return {as<T>(), std::size_t(elements())};
  }

 private:
  [[noreturn]] void throw_wrong_type(DType asked) const;
};

/// One run of a step: its input, random numbers and output.
class StepRun {
 public:
  /// State that a step reuses from sample to sample: tables, buffers. Used by one thread at a time.
  class Memory {
   public:
    virtual ~Memory() = default;
  };

  StepRun(const SampleView& input, RandomStream& random, Memory* memory)
      : input_(input), random_(random), memory_(memory) {}
  virtual ~StepRun() = default;
  [[nodiscard]] const SampleView& input() const { return input_; }
  /// Random numbers for this step and this sample only.
  [[nodiscard]] RandomStream& random() const { return random_; }
  /// The object that the step's `memory` made.
  template <class T>
  [[nodiscard]] T& memory() const {
    return static_cast<T&>(*memory_);
  }

  // A step calls exactly one of these, once.
  /// Uninitialised memory for the result, separate from the input.
  [[nodiscard]] virtual SampleView output(DType dtype, std::span<const std::int64_t> dims) = 0;
  [[nodiscard]] SampleView output(DType dtype, std::initializer_list<std::int64_t> dims) {
    return output(dtype, std::span(dims.begin(), dims.size()));
  }
  /// The input, to be changed in place; it becomes the result.
  [[nodiscard]] virtual SampleView edit() = 0;
  /// Makes the unchanged input the result.
  virtual void keep() = 0;

 private:
  const SampleView input_;
  RandomStream& random_;
  Memory* memory_;
};

/// One preprocessing step for samples: decode, crop, normalise.
///
/// Shapes: decoded images are uint8 {height, width, channels}; after `to_tensor` or `normalise`
/// they are float32 {channels, height, width}. Most steps take both.
/// Thread safety: all members may be called from several threads at once.
class SampleStep {
 public:
  virtual ~SampleStep() = default;
  /// Type of the output for the input type `in`; both may have open dimensions.
  /// Throws: TypeError, ShapeError for an input that the step cannot process.
  [[nodiscard]] virtual TensorDesc describe(const TensorDesc& in) const = 0;
  /// Called once per thread; null if the step needs no memory.
  [[nodiscard]] virtual std::unique_ptr<StepRun::Memory> memory() const { return nullptr; }
  /// Processes one sample; input and output are as `describe` says. Allocates only in `memory`, and
  /// nothing once that is warm.
  /// Throws: FormatError, ShapeError for a sample that it cannot process.
  virtual void run(StepRun& run) const = 0;
  /// A fused step that does this one and `next` at once, with the same result and the random
  /// numbers of `next`; null if there is none. Fusing lets `decode` skip pixels that a crop drops.
  [[nodiscard]] virtual std::shared_ptr<const SampleStep> joined_with(
      const std::shared_ptr<const SampleStep>& next) const {
    (void)next;
    return nullptr;
  }
};

using SampleStepEntry = Entry<std::shared_ptr<const SampleStep>()>;
/// Registered sample steps by name.
///
///     auto crop = sample_steps().at("crop").make({{"size", 32}, {"padding", 4}});
[[nodiscard]] Registry<SampleStepEntry>& sample_steps();

}  // namespace d5
