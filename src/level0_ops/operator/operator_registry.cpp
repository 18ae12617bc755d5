// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/operator_registry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/version.hpp"
#include "level0_ops/operator/checked_operator.hpp"
#include "level0_ops/operator/custom/native_operator.hpp"

namespace d5 {

namespace ops {
void register_all(OperatorRegistry& registry);  // generated
}

namespace {

std::string full_name(std::string_view domain, std::string_view name) {
  return domain.empty() ? printable(name) : printable(domain) + "." + printable(name);
}

bool covers(const OperatorVersions& versions, int opset) {
  return versions.since <= opset && opset <= versions.until;
}

/// The entry for `node`, or null.
template <class Ranges>
auto* find(const Ranges& ranges, const onnx::Node& node) {
  const auto place = ranges.find({node.domain, node.op_type});
  if (place != ranges.end()) {
    for (const auto& [versions, entry] : place->second) {
      if (covers(versions, node.opset)) return &entry;
    }
  }
  return static_cast<decltype(&place->second.front().second)>(nullptr);
}

template <class Ranges, class Entry>
void insert(Ranges& ranges, const std::string& framework, std::string name,
            OperatorVersions versions, Entry entry) {
  auto& list = ranges[{versions.domain, name}];
  for (const auto& [other, _] : list) {
    if (versions.since <= other.until && other.since <= versions.until) {
      throw ValueError(fmt::format("operator {} of {} is registered twice for opset {}",
                                   full_name(versions.domain, name), framework,
                                   std::max(versions.since, other.since)));
    }
  }
  list.emplace_back(std::move(versions), std::move(entry));
}

/// A kernel that owns its operator.
class OwnedOperatorKernel final : public Kernel {
 public:
  OwnedOperatorKernel(std::unique_ptr<Operator> op, PlanContext& context)
      : op_(std::move(op)), kernel_(op_->plan(context)) {}
  void forward(OpContext& context) override { kernel_->forward(context); }
  void backward(GradContext& context) override { kernel_->backward(context); }
  KernelTraits traits() const override { return kernel_->traits(); }

 private:
  std::unique_ptr<Operator> op_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace

void detail::add_linked_frameworks() {
  add_framework("reference", D5_VERSION, [](Framework& reference) {
    ops::register_all(reference.part<OperatorRegistry>());
  });
}

OperatorRegistry::OperatorRegistry(std::string framework) : framework_(std::move(framework)) {}

void OperatorRegistry::add(std::string name, OperatorVersions versions, Make make) {
  const std::unique_lock lock(mutex_);
  insert(operators_, framework_, std::move(name), std::move(versions), std::move(make));
}

void OperatorRegistry::add_kernel(std::string name, OperatorVersions versions, Plan plan,
                                  Check check, DeviceKind device) {
  const std::unique_lock lock(mutex_);
  insert(kernels_[device], framework_, std::move(name), std::move(versions),
         KernelEntry{std::move(plan), std::move(check)});
}

const OperatorRegistry::KernelEntry* OperatorRegistry::kernel(const onnx::Node& node,
                                                              DeviceKind device) const {
  {
    const std::shared_lock lock(mutex_);
    const auto place = kernels_.find(device);
    const KernelEntry* own = place == kernels_.end() ? nullptr : find(place->second, node);
    if (own || this == &custom_operators()) return own;
  }
  return custom_operators().kernel(node, device);
}

const OperatorRegistry::Make* OperatorRegistry::operator_entry(const onnx::Node& node) const {
  const auto own = [&] {
    const std::shared_lock lock(mutex_);
    return find(operators_, node);
  };
  if (const Make* entry = own()) return entry;
  if (this != &custom_operators()) return custom_operators().operator_entry(node);
  return detail::adopt_native_operator(node) ? own() : nullptr;
}

bool OperatorRegistry::has_operator(const onnx::Node& node) const {
  return operator_entry(node) != nullptr;
}

std::unique_ptr<Operator> OperatorRegistry::make(const onnx::Node& node) const {
  if (const Make* entry = operator_entry(node)) return detail::make_checked(*entry, node);
  throw Unsupported(fmt::format("{}: {} has no operator {} in opset {}", onnx::describe(node),
                                framework_, full_name(node.domain, node.op_type), node.opset));
}

Support OperatorRegistry::knows(const onnx::Node& node) const {
  if (has_operator(node)) return {};
  const std::shared_lock lock(mutex_);
  const std::pair key{node.domain, node.op_type};
  bool other_opset = operators_.contains(key);
  for (const auto& [device, ranges] : kernels_) {
    if (find(ranges, node)) return {};
    other_opset = other_opset || ranges.contains(key);
  }
  const std::string name = full_name(node.domain, node.op_type);
  return {other_opset ? fmt::format("operator {} in opset {}", name, node.opset)
                      : fmt::format("operator {}", name)};
}

Support OperatorRegistry::supports(const PlanContext& context) const {
  if (Support known = knows(context.node()); !known) return known;
  const DeviceKind device = context.device().kind;
  if (const KernelEntry* entry = kernel(context.node(), device)) {
    return entry->check ? entry->check(context) : Support{};
  }
  if (device == DeviceKind::cpu && has_operator(context.node())) return {};
  return {fmt::format("operator {} on {}", full_name(context.node().domain, context.node().op_type),
                      to_string(context.device()))};
}

std::unique_ptr<Kernel> OperatorRegistry::plan(PlanContext& context) const {
  if (const Support support = supports(context); !support) {
    throw Unsupported(
        fmt::format("{}: {} does not support {}", context.who(), framework_, support.reason));
  }
  if (const KernelEntry* entry = kernel(context.node(), context.device().kind)) {
    return entry->plan(context);
  }
  const auto is_own = [&] {
    const std::shared_lock lock(mutex_);
    return find(operators_, context.node()) != nullptr;
  };
  if (framework_ == "reference" || !is_own()) return context.op().plan(context);
  // Another framework may define the node, so the kernel needs its own operator.
  return std::make_unique<OwnedOperatorKernel>(make(context.node()), context);
}

std::unique_ptr<Kernel> OperatorRegistry::reorder(const TensorDesc& from,
                                                  const TensorDesc& to) const {
  if (reorder_) return reorder_(from, to);
  throw Unsupported(
      fmt::format("{} made {}, but has no reorder to {}: its plug-in calls "
                  "OperatorRegistry::set_reorder",
                  framework_, to_string(from), to_string(to)));
}

std::vector<OperatorRegistry::Entry> OperatorRegistry::list() const {
  const std::shared_lock lock(mutex_);
  std::vector<Entry> result;
  const auto collect = [&](const auto& ranges) {
    for (const auto& [key, list] : ranges) {
      for (const auto& [versions, _] : list) {
        result.push_back({key.first, key.second, versions.since, versions.until});
      }
    }
  };
  for (const auto& [device, ranges] : kernels_) collect(ranges);
  collect(operators_);
  std::sort(result.begin(), result.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.domain, a.name, a.since) < std::tie(b.domain, b.name, b.since);
  });
  return result;
}

std::unique_ptr<Operator> operator_for(const onnx::Node& node,
                                       std::span<const OperatorRegistry* const> others) {
  const auto& reference = framework("reference").part<OperatorRegistry>();
  if (reference.has_operator(node)) return reference.make(node);
  std::string names = reference.framework(), hint;
  for (const OperatorRegistry* other : others) {
    if (other->has_operator(node)) return other->make(node);
    if (other != &reference) names += ", " + other->framework();
    if (other->knows(node)) {
      hint = fmt::format(
          "; {} has a kernel for it, but no operator: register one (OperatorRegistry::add)",
          other->framework());
    }
  }
  throw Unsupported(fmt::format("{}: no {} in {}{}", onnx::describe(node),
                                reference.knows(node).reason, names, hint));
}

}  // namespace d5
