// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level0_ops/operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Opset versions and domain under which an operator is registered.
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

/// The operators of one framework, by domain, name and range of opset versions.
///
///     registry.add<Relu>("Relu", {.since = 6});
class OperatorRegistry {
 public:
  using Factory = std::function<std::unique_ptr<Operator>(const onnx::Node&)>;
  /// Answers for a node that has the right name and version; an empty reason is yes.
  using Check = std::function<Support(const onnx::Node&)>;

  /// `framework` names the owner in messages.
  explicit OperatorRegistry(std::string framework);

  /// Throws: ValueError if a range overlaps one that is there.
  void add(std::string name, OperatorVersions versions, Factory make, Check check = {});
  /// `Op` is constructible from a node, or by default.
  template <std::derived_from<Operator> Op>
  void add(std::string name, OperatorVersions versions = {}) {
    add(std::move(name), std::move(versions),
        [](const onnx::Node& node) -> std::unique_ptr<Operator> {
          if constexpr (std::is_constructible_v<Op, const onnx::Node&>) {
            return std::make_unique<Op>(node);
          } else {
            return std::make_unique<Op>();
          }
        });
  }

  [[nodiscard]] Support supports(const onnx::Node& node) const;
  /// Throws: Unsupported with the reason of `supports`.
  [[nodiscard]] std::unique_ptr<Operator> make(const onnx::Node& node) const;

  struct Entry {
    std::string domain, name;
    int since, until;
  };
  [[nodiscard]] std::vector<Entry> list() const;
  [[nodiscard]] const std::string& framework() const { return framework_; }

 private:
  struct Registered {
    OperatorVersions versions;
    Factory make;
    Check check;
  };
  std::string framework_;
  std::map<std::pair<std::string, std::string>, std::vector<Registered>> entries_;
};

}  // namespace d5
