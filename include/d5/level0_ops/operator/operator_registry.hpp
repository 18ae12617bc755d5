// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Opset versions and domain under which an operator or a kernel is registered.
struct OperatorVersions {
  int since = 1;                                ///< first opset version that means this
  int until = std::numeric_limits<int>::max();  ///< last one
  std::string domain = {};                      ///< "" is ai.onnx
};

/// Yes, or no with a reason.
struct Support {
  std::string reason;  ///< empty: yes
  explicit operator bool() const { return reason.empty(); }
};

/// What one framework has at level 0, by domain, name and range of opset versions:
/// - operators: what a node means, with a kernel of their own. The reference has those of ONNX; a
///   framework or a user adds one for a node that nobody else knows (a custom domain);
/// - kernels: how it runs nodes whose meaning is known.
///
/// Thread safety: all functions but `set_reorder`, which a framework calls while it is loaded.
///
///     registry.add<Transpose, onnx::nodes::Transpose>();          // an operator of ONNX
///     registry.add<Triple>("Triple", {.domain = "org.example"});  // one that ONNX does not have
///     registry.add_kernel<onnx::nodes::Relu>(plan_relu, check);   // a kernel
class OperatorRegistry {
 public:
  using Make = std::function<std::unique_ptr<Operator>(const onnx::Node&)>;
  /// Throws: Unsupported for what only planning shows that it cannot do.
  using Plan = std::function<std::unique_ptr<Kernel>(PlanContext&)>;
  /// Asked with the types, shapes and device at hand; an empty reason is yes.
  using Check = std::function<Support(const PlanContext&)>;

  /// `framework` names the owner in messages.
  explicit OperatorRegistry(std::string framework);

  /// Throws: ValueError if a range overlaps one that is there.
  void add(std::string name, OperatorVersions versions, Make make);
  /// An operator of ONNX under the name, domain and first version that its typed view has. `Op` is
  /// constructible from the view with `arguments` behind it, or from these alone.
  template <std::derived_from<Operator> Op, class View, class... Arguments>
  void add(Arguments... arguments) {
    add(std::string(View::kName), versions_of<View>(), [arguments...](const onnx::Node& node) {
      if constexpr (std::constructible_from<Op, View, Arguments...>) {
        return std::make_unique<Op>(View(node), arguments...);
      } else {
        return std::make_unique<Op>(arguments...);  // it has no attributes
      }
    });
  }

  /// An operator that ONNX does not have, made from its node, or from nothing.
  template <std::derived_from<Operator> Op>
  void add(std::string name, OperatorVersions versions = {}) {
    add(std::move(name), std::move(versions), []([[maybe_unused]] const onnx::Node& node) {
      if constexpr (std::constructible_from<Op, const onnx::Node&>) {
        return std::make_unique<Op>(node);
      } else {
        return std::make_unique<Op>();
      }
    });
  }

  /// A kernel for devices of the kind `device`. Throws: ValueError if a range overlaps one that is
  /// there for the same kind.
  void add_kernel(std::string name, OperatorVersions versions, Plan plan, Check check = {},
                  DeviceKind device = DeviceKind::cpu);
  template <class View>
  void add_kernel(Plan plan, Check check = {}, DeviceKind device = DeviceKind::cpu) {
    add_kernel(std::string(View::kName), versions_of<View>(), std::move(plan), std::move(check),
               device);
  }

  /// How the framework turns one of its arrangements into row-major elements or another of its own:
  /// a kernel from `from` to `to`, for one input and one output without backward.
  using Reorder =
      std::function<std::unique_ptr<Kernel>(const TensorDesc& from, const TensorDesc& to)>;
  void set_reorder(Reorder reorder) { reorder_ = std::move(reorder); }
  /// Throws: Unsupported if the framework has none.
  [[nodiscard]] std::unique_ptr<Kernel> reorder(const TensorDesc& from, const TensorDesc& to) const;

  /// Whether an operator of the node's domain, name and opset is here.
  [[nodiscard]] bool has_operator(const onnx::Node& node) const;
  /// What ONNX's schema says of an operator that it knows is checked once, here: how many inputs
  /// and outputs there are, which of them may be left out, which attributes there are; and by the
  /// operator's `infer`, the types of the inputs.
  /// Throws: Unsupported if it is not here; ShapeError, NotFound for what the schema does not
  /// allow.
  [[nodiscard]] std::unique_ptr<Operator> make(const onnx::Node& node) const;

  /// Whether a kernel is here for the context's device, or an operator (whose own kernel runs on
  /// the host), and its check says yes.
  [[nodiscard]] Support supports(const PlanContext& context) const;
  /// The framework's kernel, or that of its operator. Throws: Unsupported with the reason of
  /// `supports`, or what planning throws.
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext& context) const;
  /// Whether a kernel, for whatever device, or an operator of the node's domain, name and opset is
  /// here at all.
  [[nodiscard]] Support knows(const onnx::Node& node) const;

  struct Entry {
    std::string domain, name;
    int since, until;
  };
  /// What it has kernels for, its own operators included, sorted by domain and name.
  [[nodiscard]] std::vector<Entry> list() const;
  [[nodiscard]] const std::string& framework() const { return framework_; }

 private:
  template <class View>
  [[nodiscard]] static OperatorVersions versions_of() {
    return {.since = View::kSinceVersions.front(), .domain = std::string(View::kDomain)};
  }
  template <class T>  // in a deque, where entries stay while others are added
  using Ranges =
      std::map<std::pair<std::string, std::string>, std::deque<std::pair<OperatorVersions, T>>>;
  struct KernelEntry {
    Plan plan;
    Check check;
  };
  [[nodiscard]] const KernelEntry* kernel(const onnx::Node& node, DeviceKind device) const;
  [[nodiscard]] const Make* operator_entry(const onnx::Node& node) const;

  mutable std::shared_mutex mutex_;
  std::string framework_;
  Reorder reorder_;
  Ranges<Make> operators_;
  std::map<DeviceKind, Ranges<KernelEntry>> kernels_;
};

/// What `node` means: the reference's operator; where that has none, the first of `others` that
/// brings one. Throws: Unsupported, naming a framework that has a kernel for it but no meaning.
[[nodiscard]] std::unique_ptr<Operator> operator_for(
    const onnx::Node& node, std::span<const OperatorRegistry* const> others = {});

}  // namespace d5
