// SPDX-License-Identifier: Apache-2.0
// RegexFullMatch: whether a pattern matches the whole of each text.
#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"

namespace d5::ops {
namespace {

using RegexFullMatchView = onnx::nodes::RegexFullMatch;

/// The pattern has RE2's syntax, so matching takes time linear in the text.
class RegexFullMatch final : public MovingOperator {
 public:
  explicit RegexFullMatch(const RegexFullMatchView& view)
      : regex_(std::make_shared<RE2>(view.pattern().value_or(""), RE2::Quiet)) {
    if (!regex_->ok()) {
      throw ValueError(fmt::format("{}: the pattern '{}' is not an RE2 expression: {}",
                                   onnx::describe(view.node()), printable(regex_->pattern()),
                                   printable(regex_->error())));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{DType::boolean, context.shape(RegexFullMatchView::In::X)}};
  }

  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([regex = regex_](OpContext& run) {
      bool* y = run.output(RegexFullMatchView::Out::Y).data<bool>();
      for (const std::string& text : run.input(RegexFullMatchView::In::X).span<std::string>()) {
        *y++ = RE2::FullMatch(text, *regex);
      }
    });
  }

 private:
  std::shared_ptr<const RE2> regex_;
};

}  // namespace

void register_regex_full_match(OperatorRegistry& registry) {
  registry.add<RegexFullMatch, RegexFullMatchView>();
}

}  // namespace d5::ops
