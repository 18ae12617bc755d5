// SPDX-License-Identifier: Apache-2.0
#include "variable.hpp"

#include <array>
#include <atomic>

namespace d5::tensorflow {
namespace {

/// A name that no other variable of the process has.
std::string unique_name() {
  static std::atomic<int> count = 0;
  return "variable" + std::to_string(count++);
}

}  // namespace

Term Variable::declare(Graph& graph, const TensorDesc& desc) {
  const std::string name = unique_name();
  return graph.add("VarHandleOp", {},
                   {{"dtype", desc.dtype}, {"shape", desc.shape}, {"shared_name", name.c_str()}});
}

Variable::Variable(Graph& graph, const Runtime& runtime, const TensorDesc& desc)
    : who_(graph.who()),
      term_(declare(graph, desc)),
      assign_(graph.add("AssignVariableOp", {term_, graph.placeholder(desc)}).oper, runtime, who_),
      read_(graph.add("ReadVariableOp", {term_}, {{"dtype", desc.dtype}}).oper, runtime, who_) {
  EagerOperation(term_.oper, runtime, who_).execute({}, &resource_, who_);
}

void Variable::assign(TFE_TensorHandle* value) {
  assign_.execute(std::array{resource(), value}, nullptr, who_);
}

void Variable::read(Tensor& into) {
  HandlePointer handle;
  read_.execute(std::array{resource()}, &handle, who_);
  const TensorPointer value(TFE_TensorHandleResolve(handle.get(), status_));
  status_.expect_ok(who_);
  copy_to(into, *value);
}

}  // namespace d5::tensorflow
