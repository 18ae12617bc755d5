// SPDX-License-Identifier: Apache-2.0
// com.microsoft's operators for channels-last images: NhwcConv, NhwcMaxPool, and QLinearConv, which
// also supports ONNX's order.
#include <vector>

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

/// ONNX's operator `kName`, with the same attributes except those that ONNX lacks.
struct Convolution {
  using View = nodes::NhwcConv;
  static constexpr const char* kName = "Conv";
  static constexpr bool kMovesWeights = true;
  static Places gradients() { return {0, 1, 2}; }
  static bool channels_last(const View&) { return true; }
};
struct Pooling {
  using View = nodes::NhwcMaxPool;
  static constexpr const char* kName = "MaxPool";
  static constexpr bool kMovesWeights = false;
  static Places gradients() { return {}; }
  static bool channels_last(const View&) { return true; }
};
struct QuantizedConvolution {
  using View = nodes::QLinearConv;
  static constexpr const char* kName = "QLinearConv";
  static constexpr bool kMovesWeights = false;
  static Places gradients() { return {}; }
  static bool channels_last(const View& view) { return view.channels_last() != 0; }
};

/// Shapes: X is N x ... x C, Y N x ... x M; weights are M x ... x C / group in NhwcConv, otherwise
/// as in ONNX.
template <class Kind>
class ChannelsLast final : public detail::ComposedOperator {
 public:
  explicit ChannelsLast(const typename Kind::View& view)
      : attributes_(view.node().attributes), channels_last_(Kind::channels_last(view)) {
    attributes_.erase("channels_last");
  }
  [[nodiscard]] Places gradients() const override { return Kind::gradients(); }

 protected:
  void compose(Composition& c) const override {
    std::vector<Term> inputs;
    for (std::size_t i = 0; i < c.context().input_count(); ++i) inputs.push_back(c.input(i));
    if (channels_last_) inputs[0] = channels_moved(c, inputs[0], ChannelOrder::first);
    if (Kind::kMovesWeights) inputs[1] = channels_moved(c, inputs[1], ChannelOrder::first);
    const Term y = c.add(Kind::kName, inputs, attributes_);
    c.output(0, channels_last_ ? channels_moved(c, y, ChannelOrder::last) : y);
  }

 private:
  Composition::Attributes attributes_;
  bool channels_last_;
};

template <class Kind>
void add(OperatorRegistry& registry) {
  registry.add<ChannelsLast<Kind>, typename Kind::View>();
}

}  // namespace

void register_channels_last(OperatorRegistry& registry) {
  add<Convolution>(registry);
  add<Pooling>(registry);
  add<QuantizedConvolution>(registry);
}

}  // namespace d5::ops
