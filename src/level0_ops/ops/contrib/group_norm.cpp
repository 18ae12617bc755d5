// SPDX-License-Identifier: Apache-2.0
// com.microsoft's GroupNorm and SkipGroupNorm: channels-last GroupNormalization, with a preceding
// sum and a following Swish, as in diffusion networks.
#include <fmt/format.h>

#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/channel_order.hpp"

namespace d5::ops {
namespace {

using detail::ChannelOrder;
using detail::channels_moved;
using detail::Composition;
using detail::Term;
namespace nodes = onnx::nodes::microsoft;

/// Shapes: X is N x ... x C, or N x C x ... without `channels_last`; gamma and beta have C
/// elements.
class ChannelsLastNormalization : public detail::ComposedOperator {
 public:
  template <class View>
  explicit ChannelsLastNormalization(const View& view)
      : groups_(view.groups()),
        epsilon_(view.epsilon()),
        channels_last_(view.channels_last() != 0),
        swish_(view.activation() != 0) {
    if (view.activation() == 0 || view.activation() == 1) return;
    throw ValueError(fmt::format("{}: activation is {}, expected 0 (none) or 1 (Swish)",
                                 onnx::describe(view.node()), view.activation()));
  }

  [[nodiscard]] Places gradients() const override { return {0, 1, 2, 3, 4}; }

 protected:
  [[nodiscard]] bool channels_last() const { return channels_last_; }

  void normalize(Composition& c, Term x, Term gamma, Term beta) const {
    if (channels_last_) x = channels_moved(c, x, ChannelOrder::first);
    Term y = c.add("GroupNormalization", {x, of_type(c, gamma, x), of_type(c, beta, x)},
                   {{"num_groups", groups_}, {"epsilon", epsilon_}});
    if (swish_) y = c.add("Swish", {y});
    if (channels_last_) y = channels_moved(c, y, ChannelOrder::last);
    c.output(0, y);
  }

 private:
  /// Parameters per channel may be of a wider type than the image.
  static Term of_type(Composition& c, Term numbers, Term x) {
    if (c.desc(numbers).dtype == c.desc(x).dtype) return numbers;
    return c.add("CastLike", {numbers, x});
  }

  std::int64_t groups_;
  float epsilon_;
  bool channels_last_, swish_;
};

class GroupNorm final : public ChannelsLastNormalization {
 public:
  using View = nodes::GroupNorm;
  explicit GroupNorm(const View& view) : ChannelsLastNormalization(view) {}

 protected:
  void compose(Composition& c) const override {
    normalize(c, c.input(View::In::X), c.input(View::In::gamma), c.input(View::In::beta));
  }
};

/// Shapes: skip as X, or N x C for all positions of a sample; bias has C elements. S, the
/// normalised sum, as X.
class SkipGroupNorm final : public ChannelsLastNormalization {
 public:
  using View = nodes::SkipGroupNorm;
  using In = View::In;
  explicit SkipGroupNorm(const View& view) : ChannelsLastNormalization(view) {
    if (channels_last()) return;
    throw Unsupported(fmt::format(
        "{}: channels_last is 0, expected 1; add other tensors by a separate Add before it",
        onnx::describe(view.node())));
  }

 protected:
  void compose(Composition& c) const override {
    const Term x = c.input(In::X);
    Term skip = c.input(In::skip);
    if (c.shape(skip).rank() == 2 && c.shape(x).rank() > 2) {
      std::vector<std::int64_t> between(c.shape(x).rank() - 2);
      std::iota(between.begin(), between.end(), 1);
      skip = c.add("Unsqueeze", {skip, c.integers(between)});
    }
    Term sum = c.add("Add", {x, skip});
    if (c.shape(sum) != c.shape(x)) {
      throw ShapeError(fmt::format("{}: skip is {}, expected the shape of X, {}, or N x C",
                                   c.context().who(), to_string(c.shape(c.input(In::skip))),
                                   to_string(c.shape(x))));
    }
    if (const Term bias = c.input(In::bias)) sum = c.add("Add", {sum, bias});
    c.output(View::Out::S, sum);
    normalize(c, sum, c.input(In::gamma), c.input(In::beta));
  }
};

}  // namespace

void register_group_norm(OperatorRegistry& registry) {
  registry.add<GroupNorm, GroupNorm::View>();
  registry.add<SkipGroupNorm, SkipGroupNorm::View>();
}

}  // namespace d5::ops
