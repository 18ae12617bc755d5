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

/// One sample's tensor while steps work on it: dense, row-major, in memory of somebody else's.
/// Copying one costs nothing.
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

/// One run of a step: what it reads, draws and writes.
class StepRun {
 public:
  /// What a step keeps from sample to sample: tables, memory. One thread uses it at a time.
  class Memory {
   public:
    virtual ~Memory() = default;
  };

  StepRun(const SampleView& input, RandomStream& random, Memory* memory)
      : input_(input), random_(random), memory_(memory) {}
  virtual ~StepRun() = default;
  [[nodiscard]] const SampleView& input() const { return input_; }
  /// Of this step and this sample alone.
  [[nodiscard]] RandomStream& random() const { return random_; }
  /// What the step's `memory` made.
  template <class T>
  [[nodiscard]] T& memory() const {
    return static_cast<T&>(*memory_);
  }

  // A step calls one of these, once.
  /// Memory for the result, its content undefined; not the input's.
  [[nodiscard]] virtual SampleView output(DType dtype, std::span<const std::int64_t> dims) = 0;
  [[nodiscard]] SampleView output(DType dtype, std::initializer_list<std::int64_t> dims) {
    return output(dtype, std::span(dims.begin(), dims.size()));
  }
  /// The input, to be changed: it is the result.
  [[nodiscard]] virtual SampleView edit() = 0;
  /// The input is the result as it is.
  virtual void keep() = 0;

 private:
  const SampleView input_;
  RandomStream& random_;
  Memory* memory_;
};

/// One step on the way from what a data set holds to what a network is fed, sample by sample:
/// decode, crop, normalise.
///
/// Shapes: images are uint8 {height, width, channels} as they are decoded, and float32 {channels,
/// height, width} from `to_tensor` or `normalise` on. Most steps take both.
/// Thread safety: all of it may be called from several threads at once.
class SampleStep {
 public:
  virtual ~SampleStep() = default;
  /// What comes out where `in` goes in; either may have open dimensions.
  /// Throws: TypeError, ShapeError for what the step cannot take.
  [[nodiscard]] virtual TensorDesc describe(const TensorDesc& in) const = 0;
  /// Called once a thread; null where a step keeps nothing.
  [[nodiscard]] virtual std::unique_ptr<StepRun::Memory> memory() const { return nullptr; }
  /// Gives, of an input as described, an output as described. Allocates nothing but in `memory`,
  /// once that is warm.
  /// Throws: FormatError, ShapeError for a sample that cannot be worked on.
  virtual void run(StepRun& run) const = 0;
  /// A step that does this one and `next` at once, with the same result and what `next` draws; null
  /// where there is none. What `decode` and a crop gain by each other's knowledge.
  [[nodiscard]] virtual std::shared_ptr<const SampleStep> joined_with(
      const std::shared_ptr<const SampleStep>& next) const {
    (void)next;
    return nullptr;
  }
};

using SampleStepEntry = Entry<std::shared_ptr<const SampleStep>()>;
/// All steps by name.
///
///     auto crop = sample_steps().at("crop").make({{"size", 32}, {"padding", 4}});
[[nodiscard]] Registry<SampleStepEntry>& sample_steps();

}  // namespace d5
