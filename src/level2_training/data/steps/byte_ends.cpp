// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"

namespace d5 {
namespace {

struct ByteEndsOptions {
  std::int64_t begin = 1024, end = 1024, block = 4096, padding = 256;
  void declare(OptionList& options) {
    options.add("begin", begin, "number of bytes from the begin", {.least = 0, .most = 1 << 20});
    options.add("end", end, "number of bytes from the end", {.least = 0, .most = 1 << 20});
    options.add("block", block, "bytes at each end of which white space is left out",
                {.least = 1, .most = 1 << 20});
    options.add("padding", padding, "number in place of a byte that the file lacks");
  }
};

/// Numbers of the first and the last bytes of a file, the white space before and behind left out:
/// int32 {begin + end}.
///
/// Source: Fratantonio et al., "Magika: AI-Powered Content-Type Detection" (2024), as the package
/// magika extracts its features.
class ByteEndsStep final : public SampleStep {
 public:
  using Options = ByteEndsOptions;
  explicit ByteEndsStep(const Options& options) : options_(options) {}

  TensorDesc describe(const TensorDesc& in) const override {
    const bool text = in.dtype == DType::string && in.shape.rank() == 0;
    const bool bytes = in.dtype == DType::uint8 && in.shape.rank() == 1;
    if (!text && !bytes) {
      throw TypeError("it gets " + to_string(in) +
                      ", expected a file: a string, or a vector of bytes");
    }
    return {DType::int32, {options_.begin + options_.end}};
  }
  void run(StepRun& run) const override {
    const std::string_view file = bytes_of(run.input());
    const auto block = std::min(std::size_t(options_.block), file.size());
    constexpr std::string_view kSpace = " \t\n\r\v\f";
    std::string_view first = file.substr(0, block);
    first.remove_prefix(std::min(first.find_first_not_of(kSpace), first.size()));
    first = first.substr(0, std::size_t(options_.begin));
    std::string_view last = file.substr(file.size() - block);
    last = last.substr(0, last.find_last_not_of(kSpace) + 1);
    last.remove_prefix(last.size() - std::min(last.size(), std::size_t(options_.end)));
    const auto numbers =
        run.output(DType::int32, {options_.begin + options_.end}).span<std::int32_t>();
    std::ranges::fill(numbers, std::int32_t(options_.padding));
    const auto number = [](char c) { return std::int32_t(std::uint8_t(c)); };
    std::ranges::transform(first, numbers.begin(), number);
    std::ranges::transform(last, numbers.end() - std::ptrdiff_t(last.size()), number);
  }

 private:
  static std::string_view bytes_of(const SampleView& sample) {
    if (sample.dtype == DType::string) return *sample.as<std::string>();
    return {static_cast<const char*>(sample.data), sample.bytes()};
  }

  Options options_;
};

}  // namespace

namespace sample_step {

void register_byte_ends(Registry<SampleStepEntry>& registry) {
  registry.add("byte_ends", SampleStepEntry::of<ByteEndsStep>(
                                "bytes at both ends of a file, as numbers (Magika's features)"));
}

}  // namespace sample_step
}  // namespace d5
