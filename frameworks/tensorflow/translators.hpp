// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "graph.hpp"

namespace d5::tensorflow {

/// Translates one ONNX node to TensorFlow operations: adds them to `graph`, from `inputs` (one term
/// per input of the node, including omitted ones), and returns a term for each output; unused ones
/// may be left out. All shapes are known, and values if they are constant.
/// Throws: Unsupported.
using Translator =
    std::function<Terms(const PlanContext& context, Graph& graph, const Terms& inputs)>;

/// Translators of all operators, used for single nodes and whole networks.
class Translators {
 public:
  /// Throws: ValueError if it is registered already.
  void add(std::string domain, std::string name, int since, Translator translate);
  template <class View>
  void add(Translator translate) {
    add(std::string(View::kDomain), std::string(View::kName), View::kSinceVersions.front(),
        std::move(translate));
  }
  /// Registers an elementwise operator that is a single TensorFlow operation.
  template <class View>
  void add_function(const char* type) {
    add<View>([type](const PlanContext&, Graph& graph, const Terms& inputs) -> Terms {
      return {graph.elementwise(type, inputs)};
    });
  }

  /// A kernel for each.
  void register_kernels(OperatorRegistry& registry) const;
  /// Null if there is none.
  [[nodiscard]] const Translator* find(const onnx::Node& node) const;

 private:
  struct Entry {
    int since = 1;
    Translator translate;
  };
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

/// Adds the activation that the node names to the output of `translate`; for FusedConv possibly
/// after a sum with the fourth input. For com.microsoft's FusedConv and FusedGemm.
[[nodiscard]] Translator with_activation(Translator translate);

/// Whether TensorFlow has tensors for all values of the node.
[[nodiscard]] Support takes(const PlanContext& context);

/// Constant integers of input `i`, or of the attribute that replaces it in old opsets.
/// Throws: Unsupported if they are known only at run time.
[[nodiscard]] IntegersInput told_integers(const PlanContext& context, std::size_t i,
                                          const std::optional<Sizes>& attribute = {});

}  // namespace d5::tensorflow
