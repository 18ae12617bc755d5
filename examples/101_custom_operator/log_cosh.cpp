// SPDX-License-Identifier: Apache-2.0
// A custom operator: y = scale * log(cosh(x)), a smooth absolute value, with its gradient.
//
//   d5 op check --load log_cosh.cpp "example.LogCosh 3x4 scale=2"
//
// compiles it, registers it as example.LogCosh, and checks it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>

#include "d5/abi.h"

namespace {

struct LogCosh {
  double scale = 1;
};

d5_status refuse(d5_error* error, d5_status status, const char* message) {
  std::snprintf(error->message, sizeof error->message, "%s", message);
  return status;
}

std::int64_t elements(const d5_tensor& tensor) {
  std::int64_t result = 1;
  for (int i = 0; i < tensor.rank; ++i) result *= tensor.dims[i];
  return result;
}

/// Calls `body` with a value of the element type; `infer` accepts only these two types.
template <class Body>
d5_status for_type(const d5_tensor& x, const Body& body) {
  if (x.dtype == D5_FLOAT32) {
    body(float());
  } else {
    body(double());
  }
  return D5_OK;
}

d5_status create(const d5_node* node, void** self, d5_error* error) {
  LogCosh op;
  for (std::size_t i = 0; i < node->attribute_count; ++i) {
    const d5_attribute& attribute = node->attributes[i];
    if (std::strcmp(attribute.name, "scale") != 0) continue;
    if (attribute.kind == D5_ATTRIBUTE_FLOAT) {
      op.scale = attribute.floats[0];
    } else if (attribute.kind == D5_ATTRIBUTE_INT) {
      op.scale = double(attribute.integers[0]);
    } else {
      return refuse(error, D5_TYPE_ERROR, "scale must be a number");
    }
  }
  *self = new (std::nothrow) LogCosh(op);
  return *self ? D5_OK : refuse(error, D5_OTHER_ERROR, "there is no memory");
}

void destroy(void* self) { delete static_cast<LogCosh*>(self); }

/// y has the shape and the type of x.
d5_status infer(const void*, const d5_tensor* inputs, std::size_t input_count,
                d5_tensor_desc* outputs, std::size_t output_count, d5_error* error) {
  if (input_count != 1 || output_count != 1) {
    return refuse(error, D5_SHAPE_ERROR, "it has one input and one output");
  }
  const d5_tensor& x = inputs[0];
  if (x.dtype != D5_FLOAT32 && x.dtype != D5_FLOAT64) {
    return refuse(error, D5_TYPE_ERROR, "the input must be float32 or float64");
  }
  outputs[0].dtype = x.dtype;
  outputs[0].rank = x.rank;
  for (int i = 0; i < x.rank; ++i) outputs[0].dims[i] = x.dims[i];
  return D5_OK;
}

/// A logarithm, a hyperbolic cosine and a product per element.
d5_status flop(const void*, const d5_tensor* inputs, std::size_t, double* result, d5_error*) {
  *result = 3.0 * double(elements(inputs[0]));
  return D5_OK;
}

d5_status forward(void* self, const d5_call* call, d5_error*) {
  const double scale = static_cast<const LogCosh*>(self)->scale;
  return for_type(call->inputs[0], [&]<class T>(T) {
    const auto* x = static_cast<const T*>(call->inputs[0].data);
    auto* y = static_cast<T*>(call->outputs[0].data);
    for (std::int64_t i = 0; i < elements(call->inputs[0]); ++i) {
      // log(cosh(x)) = |x| + log1p(exp(-2 |x|)) - log 2, without overflow.
      const double size = std::fabs(double(x[i]));
      y[i] = T(scale * (size + std::log1p(std::exp(-2 * size)) - std::log(2.0)));
    }
  });
}

/// The derivative of log(cosh(x)) is tanh(x).
d5_status backward(void* self, const d5_call* call, d5_error*) {
  const double scale = static_cast<const LogCosh*>(self)->scale;
  return for_type(call->inputs[0], [&]<class T>(T) {
    const auto* x = static_cast<const T*>(call->inputs[0].data);
    const auto* dy = static_cast<const T*>(call->grad_outputs[0].data);
    auto* dx = static_cast<T*>(call->grad_inputs[0].data);
    for (std::int64_t i = 0; i < elements(call->inputs[0]); ++i) {
      dx[i] = T(scale * std::tanh(double(x[i])) * dy[i]);
    }
  });
}

constexpr d5_operator kOperators[] = {{
    .domain = "example",
    .name = "LogCosh",
    .since_version = 1,
    .until_version = 0,
    .device_kind = 0,
    .create = create,
    .destroy = destroy,
    .infer = infer,
    .flop = flop,
    .forward = forward,
    .backward = backward,
    .forward_cuda = nullptr,
    .backward_cuda = nullptr,
}};

}  // namespace

const d5_operator_table* d5_custom_operators() {
  static constexpr d5_operator_table kTable = {D5_ABI_VERSION, sizeof(d5_operator), 1, kOperators};
  return &kTable;
}
