// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator_registry.hpp"

#include <fmt/format.h>

#include "d5/core/framework.hpp"
#include "d5/core/registry.hpp"
#include "d5/version.hpp"

namespace d5 {

namespace ops {
void register_all(OperatorRegistry& registry);  // generated
}

namespace {

std::string full_name(std::string_view domain, std::string_view name) {
  return domain.empty() ? printable(name) : printable(domain) + "." + printable(name);
}

}  // namespace

void detail::add_linked_frameworks() {
  add_framework("reference", D5_VERSION, [](Framework& reference) {
    ops::register_all(reference.part<OperatorRegistry>());
  });
}

OperatorRegistry::OperatorRegistry(std::string framework) : framework_(std::move(framework)) {}

void OperatorRegistry::add(std::string name, OperatorVersions versions, Factory make, Check check) {
  auto& ranges = entries_[{versions.domain, name}];
  for (const auto& other : ranges) {
    if (versions.since <= other.versions.until && other.versions.since <= versions.until) {
      throw ValueError(fmt::format("operator {} of {} is registered twice for opset {}",
                                   full_name(versions.domain, name), framework_,
                                   std::max(versions.since, other.versions.since)));
    }
  }
  ranges.push_back({std::move(versions), std::move(make), std::move(check)});
}

Support OperatorRegistry::supports(const onnx::Node& node) const {
  const auto place = entries_.find({node.domain, node.op_type});
  if (place == entries_.end()) {
    return {fmt::format("operator {}", full_name(node.domain, node.op_type))};
  }
  for (const auto& entry : place->second) {
    if (entry.versions.since <= node.opset && node.opset <= entry.versions.until) {
      return entry.check ? entry.check(node) : Support{};
    }
  }
  return {fmt::format("operator {} in opset {}", full_name(node.domain, node.op_type), node.opset)};
}

std::unique_ptr<Operator> OperatorRegistry::make(const onnx::Node& node) const {
  if (const Support support = supports(node); !support) {
    throw Unsupported(fmt::format("{}: {} does not support {}", onnx::describe(node), framework_,
                                  support.reason));
  }
  for (const auto& entry : entries_.at({node.domain, node.op_type})) {
    if (entry.versions.since <= node.opset && node.opset <= entry.versions.until) {
      return entry.make(node);
    }
  }
  throw std::logic_error("OperatorRegistry: supports and make disagree");
}

std::vector<OperatorRegistry::Entry> OperatorRegistry::list() const {
  std::vector<Entry> result;
  for (const auto& [key, ranges] : entries_) {
    for (const auto& entry : ranges) {
      result.push_back({key.first, key.second, entry.versions.since, entry.versions.until});
    }
  }
  return result;
}

}  // namespace d5
