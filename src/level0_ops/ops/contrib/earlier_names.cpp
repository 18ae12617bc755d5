// SPDX-License-Identifier: Apache-2.0
// com.microsoft's predecessors of ONNX operators: GatherND, GridSample, Pad and Trilu.
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/operator/composed_operator.hpp"

namespace d5::ops {
namespace {

using detail::Composition;
using detail::Term;
namespace nodes = onnx::nodes::microsoft;

struct GatherNd {
  using View = nodes::GatherND;
  static constexpr const char* kName = "GatherND";
  static constexpr Places kGradients = {0};
  static void translate(Composition& c, std::vector<Term>& inputs, Composition::Attributes&) {
    Term& indices = inputs.at(View::In::indices);
    if (c.desc(indices).dtype == DType::int64) return;
    indices = c.add("Cast", {indices}, {{"to", std::int64_t(DType::int64)}});
  }
};

struct GridSample {
  using View = nodes::GridSample;
  static constexpr const char* kName = "GridSample";
  static constexpr Places kGradients = {0, 1};
  /// Translates to ONNX's names of modes for any number of dimensions.
  static void translate(Composition&, std::vector<Term>&, Composition::Attributes& attributes) {
    const auto mode = attributes.find("mode");
    auto* name = mode == attributes.end() ? nullptr : std::get_if<std::string>(&mode->second);
    if (name && *name == "bilinear") *name = "linear";
    if (name && *name == "bicubic") *name = "cubic";
  }
};

struct Pad {
  using View = nodes::Pad;
  static constexpr const char* kName = "Pad";
  static constexpr Places kGradients = {0};
  static void translate(Composition&, std::vector<Term>&, Composition::Attributes&) {}
};

struct Trilu {
  using View = nodes::Trilu;
  static constexpr const char* kName = "Trilu";
  static constexpr Places kGradients = {0};
  static void translate(Composition&, std::vector<Term>&, Composition::Attributes&) {}
};

/// Shapes: as ONNX's operator, which it is defined by.
template <class Kind>
class EarlierName final : public detail::ComposedOperator {
 public:
  explicit EarlierName(const typename Kind::View& view) : attributes_(view.node().attributes) {}
  [[nodiscard]] Places gradients() const override { return Kind::kGradients; }

 protected:
  void compose(Composition& c) const override {
    std::vector<Term> inputs;
    for (std::size_t i = 0; i < c.context().input_count(); ++i) inputs.push_back(c.input(i));
    Composition::Attributes attributes = attributes_;
    Kind::translate(c, inputs, attributes);
    c.output(0, c.add(Kind::kName, std::move(inputs), std::move(attributes)));
  }

 private:
  Composition::Attributes attributes_;
};

template <class Kind>
void add(OperatorRegistry& registry) {
  registry.add<EarlierName<Kind>, typename Kind::View>();
}

}  // namespace

void register_earlier_names(OperatorRegistry& registry) {
  add<GatherNd>(registry);
  add<GridSample>(registry);
  add<Pad>(registry);
  add<Trilu>(registry);
}

}  // namespace d5::ops
