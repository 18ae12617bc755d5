// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/entries/path_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "d5/level2_training/data/tokenizer.hpp"

namespace d5 {
namespace {

struct TokenizeOptions {
  enum class Gives { ids, mask };

  EntryChoice tokenizer{"bpe"};
  std::string file;
  std::int64_t length = 0;
  TokenId padding = 0;
  bool frame = true;
  Gives gives = Gives::ids;

  void declare(OptionList& options) {
    options.add("tokenizer", tokenizer, "tokenizer ('d5 list tokenizers')", "tokenizer");
    options.add("file", file, "the tokenizer's file, such as a tokenizer.json",
                detail::path_text());
    options.add("length", length,
                "number of tokens: longer texts are cut, shorter ones padded; 0: each text's own",
                {.least = 0, .most = 1 << 24});
    options.add("padding", padding, "id behind the tokens of a shorter text");
    options.add("frame", frame, "keep the tokens that the model expects around every text");
    options.add("gives", gives,
                "result: ids of the tokens, or a mask: 1 for a token, 0 for padding",
                {"ids", "mask"});
  }
};

std::shared_ptr<const Tokenizer> opened(const TokenizeOptions& options) {
  EntryChoice choice = options.tokenizer;
  if (!options.file.empty()) choice.settings.set("file", options.file);
  return tokenizers().at(choice.name).make(choice.settings);
}

/// Tokens of a text, or the mask that tells them from padding: int64 {length}.
class TokenizeStep final : public SampleStep {
 public:
  using Options = TokenizeOptions;
  explicit TokenizeStep(const Options& options) : options_(options), tokenizer_(opened(options)) {
    if (options.frame) frame_ = tokenizer_->frame();
    const auto framed = std::int64_t(frame_.before.size() + frame_.after.size());
    if (options.length > 0 && framed > options.length) {
      throw ValueError(fmt::format(
          "step tokenize: length: {}, expected at least {}, the tokens around every text, or "
          "frame: false",
          options.length, framed));
    }
  }

  [[nodiscard]] TensorDesc describe(const TensorDesc& in) const override {
    const bool text = in.dtype == DType::string && in.shape.rank() == 0;
    const bool bytes = in.dtype == DType::uint8 && in.shape.rank() == 1;
    if (!text && !bytes) {
      throw TypeError("it gets " + to_string(in) +
                      ", expected a text: a string, or a vector of bytes");
    }
    return {DType::int64, {options_.length > 0 ? options_.length : kUnknownDim}};
  }
  void run(StepRun& run) const override {
    std::vector<TokenId> ids = framed(tokenizer_->encode(text_of(run.input())));
    const std::size_t length = options_.length > 0 ? std::size_t(options_.length) : ids.size();
    const bool masks = options_.gives == Options::Gives::mask;
    if (masks) std::ranges::fill(ids, 1);
    const auto result = run.output(DType::int64, {std::int64_t(length)}).span<TokenId>();
    const auto rest = std::ranges::copy(ids, result.begin()).out;
    std::fill(rest, result.end(), masks ? 0 : options_.padding);
  }

 private:
  static std::string_view text_of(const SampleView& sample) {
    if (sample.dtype == DType::string) return *sample.as<std::string>();
    return {static_cast<const char*>(sample.data), sample.bytes()};
  }

  /// A text that is too long loses tokens of its own, none of the frame.
  [[nodiscard]] std::vector<TokenId> framed(std::vector<TokenId> ids) const {
    if (options_.length > 0) {
      const std::size_t most =
          std::size_t(options_.length) - frame_.before.size() - frame_.after.size();
      ids.resize(std::min(ids.size(), most));
    }
    ids.insert(ids.begin(), frame_.before.begin(), frame_.before.end());
    ids.insert(ids.end(), frame_.after.begin(), frame_.after.end());
    return ids;
  }

  Options options_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  TokenFrame frame_;
};

}  // namespace

namespace sample_step {

void register_tokenize(Registry<SampleStepEntry>& registry) {
  registry.add("tokenize", SampleStepEntry::of<TokenizeStep>(
                               "text as the tokens of a language model, or their mask"));
}

}  // namespace sample_step
}  // namespace d5
