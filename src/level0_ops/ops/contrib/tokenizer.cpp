// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Tokenizer: splits texts to words, as written by skl2onnx for text vectorizers.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::ops {
namespace {

using TokenizerView = onnx::nodes::microsoft::Tokenizer;
using Tokens = std::vector<std::string_view>;

/// The size of the first character of `text` in bytes; 1 for bytes that are not UTF-8.
std::size_t first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return std::min(size, text.size());
}

std::int64_t characters(std::string_view text) {
  std::int64_t count = 0;
  for (; !text.empty(); text.remove_prefix(first_character(text))) ++count;
  return count;
}

std::shared_ptr<const RE2> expression(const std::string& pattern, const onnx::Node& node) {
  auto result = std::make_shared<const RE2>(pattern, RE2::Quiet);
  if (result->ok()) return result;
  throw ValueError(fmt::format("{}: '{}' is not an RE2 expression: {}", onnx::describe(node),
                               printable(pattern), printable(result->error())));
}

/// Throws: Unsupported for a pattern that matches the empty text.
std::shared_ptr<const RE2> separator(const std::string& pattern, const onnx::Node& node) {
  auto result = expression(pattern, node);
  if (!RE2::FullMatch("", *result)) return result;
  throw Unsupported(
      fmt::format("{}: the separator '{}' matches an empty text; expected one of a "
                  "character or more, or '' alone, which makes each character a token",
                  onnx::describe(node), printable(pattern)));
}

/// Calls `take` for each nonoverlapping, nonempty match of `regex` in `text`, in order.
template <class F>
void for_each_match(const RE2& regex, std::string_view text, F&& take) {
  std::size_t at = 0;
  re2::StringPiece match;
  const re2::StringPiece whole(text.data(), text.size());
  while (at < text.size() && regex.Match(whole, at, text.size(), RE2::UNANCHORED, &match, 1)) {
    const std::size_t begin = std::size_t(match.data() - text.data());
    if (match.empty()) {
      if (begin >= text.size()) return;
      at = begin + first_character(text.substr(begin));
      continue;
    }
    take(begin, match.size());
    at = begin + match.size();
  }
}

/// Splits texts by the node's attributes.
class Cutter {
 public:
  explicit Cutter(const TokenizerView& view) : least_(view.mincharnum()) {
    const onnx::Node& node = view.node();
    if (least_ < 1) {
      throw ValueError(
          fmt::format("{}: mincharnum is {}, expected 1 or more", onnx::describe(node), least_));
    }
    const auto separators = view.separators().value_or(std::vector<std::string>{});
    const std::string token = view.tokenexp().value_or("");
    if (separators.empty() && token.empty()) {
      throw ValueError(
          fmt::format("{}: neither separators nor tokenexp is given, expected one of them",
                      onnx::describe(node)));
    }
    if (separators.empty()) {
      token_ = expression(token, node);
    } else if (separators != std::vector<std::string>{""}) {
      for (const std::string& one : separators) separators_.push_back(separator(one, node));
    }
  }

  /// The tokens of at least `mincharnum` characters.
  [[nodiscard]] Tokens cut(std::string_view text) const {
    Tokens tokens;
    if (token_) {
      for_each_match(*token_, text, [&](std::size_t begin, std::size_t size) {
        tokens.push_back(text.substr(begin, size));
      });
    } else if (separators_.empty()) {
      for (; !text.empty(); text.remove_prefix(tokens.back().size())) {
        tokens.push_back(text.substr(0, first_character(text)));
      }
    } else {
      tokens.push_back(text);
      for (const auto& separator : separators_) tokens = between(*separator, tokens);
    }
    std::erase_if(tokens, [&](std::string_view one) { return characters(one) < least_; });
    return tokens;
  }

 private:
  static Tokens between(const RE2& separator, const Tokens& texts) {
    Tokens result;
    for (const std::string_view text : texts) {
      std::size_t from = 0;
      for_each_match(separator, text, [&](std::size_t begin, std::size_t size) {
        result.push_back(text.substr(from, begin - from));
        from = begin + size;
      });
      result.push_back(text.substr(from));
    }
    return result;
  }

  std::int64_t least_;
  std::shared_ptr<const RE2> token_;  ///< pattern of tokens, or
  /// Patterns between tokens; none: each character is a token.
  std::vector<std::shared_ptr<const RE2>> separators_;
};

/// Shapes: X is C or N x C; Y has an additional dimension, the largest number of tokens of a text,
/// including optional marks of begin and end; shorter texts are padded.
class Tokenizer final : public MovingOperator {
 public:
  explicit Tokenizer(const TokenizerView& view)
      : cutter_(view), marks_(view.mark() != 0), pad_(view.pad_value()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    Shape y = context.shape(TokenizerView::In::X);
    if (y.rank() != 1 && y.rank() != 2) {
      throw ShapeError(
          fmt::format("{}: X is {}, expected one dimension or two", context.who(), to_string(y)));
    }
    y.push_back(kUnknownDim);
    return {TensorDesc{DType::string, y}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([this](OpContext& run) {
      const Tensor& x = run.input(TokenizerView::In::X);
      std::vector<Tokens> all;
      std::size_t most = 0;
      for (const std::string& text : x.span<std::string>()) {
        all.push_back(cutter_.cut(text));
        most = std::max(most, all.back().size());
      }
      const std::size_t length = most == 0 ? 0 : most + (marks_ ? 2 : 0);
      Shape shape = x.shape();
      shape.push_back(std::int64_t(length));
      std::string* y =
          run.allocate(TokenizerView::Out::Y, {DType::string, shape}).data<std::string>();
      for (const Tokens& tokens : all) {
        std::string* const end = y + length;
        if (length == 0) break;
        if (marks_) *y++ = "\x02";
        for (const std::string_view token : tokens) *y++ = token;
        if (marks_) *y++ = "\x03";
        std::fill(y, end, pad_);
        y = end;
      }
    });
  }

 private:
  Cutter cutter_;
  bool marks_;
  std::string pad_;
};

}  // namespace

void register_tokenizer(OperatorRegistry& registry) { registry.add<Tokenizer, TokenizerView>(); }

}  // namespace d5::ops
