// SPDX-License-Identifier: Apache-2.0
// y = -x on the host and, queued on the call's stream, on the test driver's GPU: test.Negate is
// correct, test.WrongNegate omits the sign on the GPU.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>

#include "d5/abi.h"

namespace {

struct Work {
  const float* x;
  float* y;
  std::int64_t count;
  float factor;
};

void multiply(void* work) {
  const auto* w = static_cast<const Work*>(work);
  for (std::int64_t i = 0; i < w->count; ++i) w->y[i] = w->factor * w->x[i];
  delete w;
}

Work* work_of(const d5_call* call, float factor) {
  std::int64_t count = 1;
  for (int i = 0; i < call->inputs[0].rank; ++i) count *= call->inputs[0].dims[i];
  return new Work{static_cast<const float*>(call->inputs[0].data),
                  static_cast<float*>(call->outputs[0].data), count, factor};
}

d5_status infer(const void*, const d5_tensor* inputs, std::size_t, d5_tensor_desc* outputs,
                std::size_t, d5_error* error) {
  if (inputs[0].dtype != D5_FLOAT32) {
    std::snprintf(error->message, sizeof error->message, "it computes in float32");
    return D5_TYPE_ERROR;
  }
  outputs[0].dtype = inputs[0].dtype;
  outputs[0].rank = inputs[0].rank;
  for (int i = 0; i < inputs[0].rank; ++i) outputs[0].dims[i] = inputs[0].dims[i];
  return D5_OK;
}

d5_status forward(void*, const d5_call* call, d5_error*) {
  multiply(work_of(call, -1));
  return D5_OK;
}

template <int factor>
d5_status forward_cuda(void*, const d5_call* call, d5_error* error) {
  using Launch = int (*)(void* stream, void (*function)(void*), void* data);
  static const auto launch =
      reinterpret_cast<Launch>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchHostFunc"));
  if (launch(call->stream, multiply, work_of(call, factor)) == 0) return D5_OK;
  std::snprintf(error->message, sizeof error->message, "nothing can be queued");
  return D5_OTHER_ERROR;
}

template <int factor>
constexpr d5_operator make(const char* name) {
  d5_operator result = {};
  result.domain = "test";
  result.name = name;
  result.since_version = 1;
  result.infer = infer;
  result.forward = forward;
  result.forward_cuda = forward_cuda<factor>;
  return result;
}

}  // namespace

const d5_operator_table* d5_custom_operators() {
  static constexpr d5_operator kOperators[] = {make<-1>("Negate"), make<1>("WrongNegate")};
  static constexpr d5_operator_table kTable = {D5_ABI_VERSION, sizeof(d5_operator), 2, kOperators};
  return &kTable;
}
