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
  int since = 1;                                ///< first opset version
  int until = std::numeric_limits<int>::max();  ///< last opset version
  std::string domain = {};                      ///< "" is ai.onnx
};

/// Yes, or no with a reason.
struct Support {
  std::string reason;  ///< empty: yes
  explicit operator bool() const { return reason.empty(); }
};

/// A framework's operators and kernels, by domain, name and range of opset versions:
/// - operators define a node, with a kernel of their own. The reference has those of ONNX; a
/// framework or a user adds operators of a custom domain;
/// - kernels implement nodes that are defined elsewhere.
///
/// Thread safety: all functions except `set_reorder`, which a framework calls while it is loaded.
///
///     registry.add<Transpose, onnx::nodes::Transpose>();          // an operator of ONNX
///     registry.add<Triple>("Triple", {.domain = "org.example"});  // one that ONNX does not have
///     registry.add_kernel<onnx::nodes::Relu>(plan_relu, check);   // a kernel
class OperatorRegistry {
 public:
  using Make = std::function<std::unique_ptr<Operator>(const onnx::Node&)>;
  /// Throws: Unsupported for a case that only planning shows to be unsupported.
  using Plan = std::function<std::unique_ptr<Kernel>(PlanContext&)>;
  /// Checks types, shapes and device; an empty reason means yes.
  using Check = std::function<Support(const PlanContext&)>;

  /// `framework` names the owner in messages.
  explicit OperatorRegistry(std::string framework);

  /// Throws: ValueError if the range overlaps an existing one.
  void add(std::string name, OperatorVersions versions, Make make);
  /// Adds an operator of ONNX under the name, domain and first version of its typed view. `Op` is
  /// constructible from the view followed by `arguments`, or from these alone.
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

  /// Adds an operator that ONNX does not have. `Op` is constructible from its node, or by default.
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

  /// Adds a kernel for devices of the kind `device`. Throws: ValueError if the range overlaps an
  /// existing one for the same kind.
  void add_kernel(std::string name, OperatorVersions versions, Plan plan, Check check = {},
                  DeviceKind device = DeviceKind::cpu);
  template <class View>
  void add_kernel(Plan plan, Check check = {}, DeviceKind device = DeviceKind::cpu) {
    add_kernel(std::string(View::kName), versions_of<View>(), std::move(plan), std::move(check),
               device);
  }

  /// Makes a kernel that converts between the framework's arrangements, or to and from row-major:
  /// one input, one output, no backward.
  using Reorder =
      std::function<std::unique_ptr<Kernel>(const TensorDesc& from, const TensorDesc& to)>;
  void set_reorder(Reorder reorder) { reorder_ = std::move(reorder); }
  /// Throws: Unsupported if the framework has no reorder.
  [[nodiscard]] std::unique_ptr<Kernel> reorder(const TensorDesc& from, const TensorDesc& to) const;

  /// Whether there is an operator of the node's domain, name and opset.
  [[nodiscard]] bool has_operator(const onnx::Node& node) const;
  /// Makes the node's operator. Checks the node once against ONNX's schema: the number of inputs
  /// and outputs, which of them may be omitted, and the attributes. The operator's `infer` checks
  /// the types of the inputs. Throws: Unsupported if there is no such operator; ShapeError,
  /// NotFound for a violation of the schema.
  [[nodiscard]] std::unique_ptr<Operator> make(const onnx::Node& node) const;

  /// Whether there is a kernel for the context's device, or an operator (its own kernel runs on the
  /// host), and its check accepts the context.
  [[nodiscard]] Support supports(const PlanContext& context) const;
  /// Plans the framework's kernel, or its operator's. Throws: Unsupported with the reason of
  /// `supports`, or what planning throws.
  [[nodiscard]] std::unique_ptr<Kernel> plan(PlanContext& context) const;
  /// Whether there is a kernel for any device, or an operator, of the node's domain, name and
  /// opset.
  [[nodiscard]] Support knows(const onnx::Node& node) const;

  struct Entry {
    std::string domain, name;
    int since, until;
  };
  /// All entries with kernels, including operators, sorted by domain and name.
  [[nodiscard]] std::vector<Entry> list() const;
  [[nodiscard]] const std::string& framework() const { return framework_; }

 private:
  template <class View>
  [[nodiscard]] static OperatorVersions versions_of() {
    return {.since = View::kSinceVersions.front(), .domain = std::string(View::kDomain)};
  }
  template <class T>  // a deque, so that entries do not move when others are added
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

/// The operator that defines `node`: the reference's, else that of the first of `others` that has
/// one. Throws: Unsupported, naming a framework that has a kernel but no operator for it.
[[nodiscard]] std::unique_ptr<Operator> operator_for(
    const onnx::Node& node, std::span<const OperatorRegistry* const> others = {});

}  // namespace d5
