// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5 {
namespace {

struct FramesOptions {
  std::int64_t length = 400, hop = 0, before = 0;
  enum class Tail { pad, drop } tail = Tail::pad;

  void declare(OptionList& options) {
    options.add("length", length, "elements of a frame", {.least = 1, .most = 100'000'000});
    options.add("hop", hop, "elements from one frame's start to the next's; 0: the length",
                {.least = 0, .most = 100'000'000});
    options.add("before", before, "zeros before the first element",
                {.least = 0, .most = 100'000'000});
    options.add("tail", tail, "last elements that fill no frame: padded with zeros, or dropped",
                {"pad", "drop"});
  }
};

/// Cuts a vector, or the rows of a tensor, into frames that may overlap: {frames, length, ...}.
class FramesStep final : public SampleStep {
 public:
  using Options = FramesOptions;
  explicit FramesStep(const Options& options) : options_(options) {
    if (options_.hop == 0) options_.hop = options_.length;
  }

  TensorDesc describe(const TensorDesc& in) const override {
    if (in.dtype == DType::string || in.shape.rank() == 0) {
      throw TypeError("it gets " + to_string(in) + ", expected a vector of numbers, or rows");
    }
    std::vector<std::int64_t> dims{kUnknownDim, options_.length};
    if (in.shape[0] != kUnknownDim) dims[0] = frames_of(in.shape[0]);
    dims.insert(dims.end(), in.shape.dims().begin() + 1, in.shape.dims().end());
    return {in.dtype, Shape(std::move(dims))};
  }
  void run(StepRun& run) const override {
    const SampleView& in = run.input();
    const std::int64_t count = in.sizes[0], frames = frames_of(count);
    std::vector<std::int64_t> dims{frames, options_.length};
    dims.insert(dims.end(), in.dims().begin() + 1, in.dims().end());
    const SampleView out = run.output(in.dtype, std::span<const std::int64_t>(dims));
    if (frames == 0) return;
    const std::size_t row = count > 0 ? in.bytes() / std::size_t(count) : 0;
    auto* to = static_cast<std::byte*>(out.data);
    std::memset(to, 0, out.bytes());
    for (std::int64_t f = 0; f < frames; ++f) {
      const std::int64_t start = f * options_.hop - options_.before;  // in the input
      const std::int64_t begin = std::clamp<std::int64_t>(start, 0, count);
      const std::int64_t end = std::clamp(start + options_.length, begin, count);
      std::memcpy(to + std::size_t(f * options_.length + begin - start) * row,
                  static_cast<const std::byte*>(in.data) + std::size_t(begin) * row,
                  std::size_t(end - begin) * row);
    }
  }

 private:
  /// Padded, a frame begins wherever elements follow that no frame has.
  [[nodiscard]] std::int64_t frames_of(std::int64_t count) const {
    const std::int64_t rest = count + options_.before - options_.length;
    if (options_.tail == Options::Tail::drop) return rest < 0 ? 0 : rest / options_.hop + 1;
    if (count == 0) return 0;
    return rest <= 0 ? 1 : (rest + options_.hop - 1) / options_.hop + 1;
  }

  Options options_;
};

}  // namespace

namespace sample_step {

void register_frames(Registry<SampleStepEntry>& registry) {
  registry.add("frames",
               SampleStepEntry::of<FramesStep>("overlapping frames of a signal: frames x length"));
}

}  // namespace sample_step
}  // namespace d5
