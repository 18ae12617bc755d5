// SPDX-License-Identifier: Apache-2.0
// Operators that do what none should; `faulty.Right` is the one that does not.
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "d5/abi.h"

namespace {

d5_status infer(const void*, const d5_tensor* inputs, std::size_t, d5_tensor_desc* outputs,
                std::size_t, d5_error*) {
  outputs[0].dtype = inputs[0].dtype;
  outputs[0].rank = inputs[0].rank;
  for (int i = 0; i < inputs[0].rank; ++i) outputs[0].dims[i] = inputs[0].dims[i];
  return D5_OK;
}

std::size_t bytes(const d5_tensor& tensor) {
  std::size_t result = tensor.dtype == D5_FLOAT64 ? 8 : 4;
  for (int i = 0; i < tensor.rank; ++i) result *= std::size_t(tensor.dims[i]);
  return result;
}

d5_status right(void*, const d5_call* call, d5_error*) {
  std::memcpy(call->outputs[0].data, call->inputs[0].data, bytes(call->inputs[0]));
  return D5_OK;
}
d5_status right_backward(void*, const d5_call* call, d5_error*) {
  std::memcpy(call->grad_inputs[0].data, call->grad_outputs[0].data, bytes(call->inputs[0]));
  return D5_OK;
}

d5_status crash(void*, const d5_call*, d5_error*) {
  std::raise(SIGSEGV);
  return D5_OK;
}
d5_status throwing(void*, const d5_call*, d5_error*) { throw std::runtime_error("my fault"); }
d5_status leave(void*, const d5_call*, d5_error*) { std::exit(0); }
d5_status hang(void*, const d5_call*, d5_error*) {
  for (volatile int i = 0;; i = i + 1) {
  }
}
d5_status overrun(void* self, const d5_call* call, d5_error* error) {
  static_cast<char*>(call->outputs[0].data)[bytes(call->outputs[0])] = 7;
  return right(self, call, error);
}

d5_operator entry(const char* name, decltype(d5_operator::forward) forward,
                  decltype(d5_operator::backward) backward = right_backward) {
  d5_operator result{};
  result.domain = "faulty";
  result.name = name;
  result.since_version = 1;
  result.infer = infer;
  result.forward = forward;
  result.backward = backward;
  return result;
}

}  // namespace

const d5_operator_table* d5_custom_operators() {
  static const std::vector<d5_operator> operators = {
      entry("Right", right),    entry("Crash", crash), entry("CrashBackward", right, crash),
      entry("Throw", throwing), entry("Leave", leave), entry("Hang", hang),
      entry("Overrun", overrun)};
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), operators.size(),
                                          operators.data()};
  return &table;
}
