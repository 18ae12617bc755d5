// SPDX-License-Identifier: Apache-2.0
// StringSplit: splits texts at a delimiter, or at white space.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::ops {
namespace {

using StringSplitView = onnx::nodes::StringSplit;

/// Splits texts. The last piece is the rest after `most` splits.
struct Cutter {
  std::string delimiter;  ///< empty: runs of white space, which is also trimmed at both ends
  std::int64_t most;

  /// Calls `take(piece)` for each piece, in order; returns their number.
  template <class F>
  std::int64_t cut(std::string_view text, F&& take) const {
    return delimiter.empty() ? at_spaces(text, take) : at_delimiters(text, take);
  }

 private:
  template <class F>
  std::int64_t at_delimiters(std::string_view text, F&& take) const {
    std::int64_t cuts = 0;
    for (std::size_t end; cuts < most && (end = text.find(delimiter)) != text.npos; ++cuts) {
      take(text.substr(0, end));
      text.remove_prefix(end + delimiter.size());
    }
    take(text);
    return cuts + 1;
  }

  template <class F>
  std::int64_t at_spaces(std::string_view text, F&& take) const {
    constexpr std::string_view kSpaces = " \t\n\v\f\r";
    const auto skip_spaces = [&] {
      text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    };
    std::int64_t pieces = 0;
    for (skip_spaces(); !text.empty(); skip_spaces()) {
      const std::size_t end =
          pieces < most ? std::min(text.find_first_of(kSpaces), text.size()) : text.size();
      take(text.substr(0, end));
      text.remove_prefix(end);
      ++pieces;
    }
    return pieces;
  }
};

/// Shapes: Y is X with an additional dimension, the largest number of pieces of a text; shorter
/// ones are padded with empty texts. Z, the number of pieces, is as X.
class StringSplit final : public MovingOperator {
 public:
  explicit StringSplit(const StringSplitView& view)
      : cutter_{view.delimiter().value_or(""),
                view.maxsplit().value_or(std::numeric_limits<std::int64_t>::max())} {
    if (cutter_.most < 0) {
      throw ValueError(
          fmt::format("{}: maxsplit is {}, expected 0 or more; omit it to split without limit",
                      onnx::describe(view.node()), cutter_.most));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(StringSplitView::In::X);
    Shape y = x;
    y.push_back(kUnknownDim);
    return {TensorDesc{DType::string, y}, TensorDesc{DType::int64, x}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([cutter = cutter_](OpContext& run) {
      const auto texts = run.input(StringSplitView::In::X).span<std::string>();
      std::int64_t* counts = run.output(StringSplitView::Out::Z).data<std::int64_t>();
      std::int64_t longest = 0;
      for (const std::string& text : texts) {
        longest = std::max(longest, *counts++ = cutter.cut(text, [](std::string_view) {}));
      }
      Shape shape = run.input(StringSplitView::In::X).shape();
      shape.push_back(longest);
      std::string* y =
          run.allocate(StringSplitView::Out::Y, {DType::string, shape}).data<std::string>();
      for (const std::string& text : texts) {
        std::string* const end = y + longest;
        cutter.cut(text, [&](std::string_view piece) { *y++ = piece; });
        while (y < end) (y++)->clear();
      }
    });
  }

 private:
  Cutter cutter_;
};

}  // namespace

void register_string_split(OperatorRegistry& registry) {
  registry.add<StringSplit, StringSplitView>();
}

}  // namespace d5::ops
