// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <mutex>
#include <utility>
#include <vector>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/custom_operator.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/custom/native_operator.hpp"

namespace d5 {
namespace {

struct State {
  std::mutex mutex;
  std::vector<FindNative> finders;
};
State& state() {
  static State state;
  return state;
}

}  // namespace

void add_native_operators(FindNative find) {
  const std::lock_guard lock(state().mutex);
  state().finders.push_back(std::move(find));
}

bool detail::adopt_native_operator(const onnx::Node& node) {
  if (node.domain.empty() || node.domain.starts_with("ai.onnx")) return false;
  std::vector<FindNative> finders;
  {
    const std::lock_guard lock(state().mutex);
    finders = state().finders;
  }
  for (const FindNative& find : finders) {
    OperatorRegistry::Make make = find(node);
    if (!make) continue;
    // Another thread may have added it already.
    add_custom_operator(node.op_type, {.domain = node.domain}, std::move(make), IfTaken::replace);
    return true;
  }
  return false;
}

std::string custom_op_from_native(const std::string& framework_name, const std::string& function) {
  const std::size_t colons = function.find("::");
  if (colons == std::string::npos) {
    throw ValueError(
        fmt::format("'{}' is not the name of a framework's function, expected one as "
                    "aten::silu",
                    printable(function)));
  }
  const Framework& owner = framework(framework_name);
  onnx::Node node;
  node.domain = function.substr(0, colons);
  node.op_type = function.substr(colons + 2);
  node.opset = 1;
  if (!custom_operators().knows(node)) {
    throw NotFound(fmt::format("{} {} has no function '{}'", owner.name(), owner.version(),
                               printable(function)));
  }
  return node.domain + "." + node.op_type;
}

}  // namespace d5
