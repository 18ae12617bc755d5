/* SPDX-License-Identifier: Apache-2.0 */
/* An operator of one's own, in C: y = scale * log(cosh(x)), a smooth absolute value.
 *
 *   cc -shared -fPIC -O2 -I include examples/101_custom_operator.c -o log_cosh.so -lm
 *
 * Then, in C++, `d5::load_custom_operators("./log_cosh.so", registry)` makes it known as
 * example.LogCosh, for networks, the gradient test and the benchmarks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "d5/abi.h"

typedef struct {
  double scale;
} log_cosh;

static int64_t elements(const d5_tensor* tensor) {
  int64_t result = 1;
  for (int32_t i = 0; i < tensor->rank; ++i) result *= tensor->dims[i];
  return result;
}

static d5_status create(const d5_node* node, void** self, d5_error* error) {
  log_cosh* op = malloc(sizeof *op);
  if (!op) return D5_OTHER_ERROR;
  op->scale = 1;
  for (size_t i = 0; i < node->attribute_count; ++i) {
    const d5_attribute* attribute = &node->attributes[i];
    if (strcmp(attribute->name, "scale") != 0) continue;
    if (attribute->kind == D5_ATTRIBUTE_FLOAT) {
      op->scale = attribute->floats[0];
    } else if (attribute->kind == D5_ATTRIBUTE_INT) {
      op->scale = (double)attribute->integers[0];
    } else {
      snprintf(error->message, sizeof error->message, "scale must be a number");
      free(op);
      return D5_TYPE_ERROR;
    }
  }
  *self = op;
  return D5_OK;
}

/* y has the shape and the type of x. */
static d5_status infer(const void* self, const d5_tensor* inputs, size_t input_count,
                       d5_tensor_desc* outputs, size_t output_count, d5_error* error) {
  (void)self;
  if (input_count != 1 || output_count != 1) {
    snprintf(error->message, sizeof error->message, "%zu inputs and %zu outputs, expected one each",
             input_count, output_count);
    return D5_SHAPE_ERROR;
  }
  const d5_tensor* x = &inputs[0];
  if (x->dtype != D5_FLOAT32 && x->dtype != D5_FLOAT64) {
    snprintf(error->message, sizeof error->message, "the input must be float32 or float64");
    return D5_TYPE_ERROR;
  }
  outputs[0].dtype = x->dtype;
  outputs[0].rank = x->rank;
  for (int32_t i = 0; i < x->rank; ++i) outputs[0].dims[i] = x->dims[i];
  return D5_OK;
}

/* log(cosh(x)) = |x| + log1p(exp(-2 |x|)) - log 2: nothing overflows. */
static double value(double x) { return fabs(x) + log1p(exp(-2 * fabs(x))) - log(2.0); }

/* A logarithm, a hyperbolic cosine and a product for each element. */
static d5_status flop(const void* self, const d5_tensor* inputs, size_t input_count, double* result,
                      d5_error* error) {
  (void)self, (void)input_count, (void)error;
  *result = 3.0 * (double)elements(&inputs[0]);
  return D5_OK;
}

static d5_status forward(void* self, const d5_call* call, d5_error* error) {
  (void)error;
  const double scale = ((const log_cosh*)self)->scale;
  const int64_t count = elements(&call->inputs[0]);
  if (call->inputs[0].dtype == D5_FLOAT32) {
    const float* x = call->inputs[0].data;
    float* y = call->outputs[0].data;
    for (int64_t i = 0; i < count; ++i) y[i] = (float)(scale * value(x[i]));
  } else {
    const double* x = call->inputs[0].data;
    double* y = call->outputs[0].data;
    for (int64_t i = 0; i < count; ++i) y[i] = scale * value(x[i]);
  }
  return D5_OK;
}

/* The derivative of log(cosh(x)) is tanh(x). */
static d5_status backward(void* self, const d5_call* call, d5_error* error) {
  (void)error;
  const double scale = ((const log_cosh*)self)->scale;
  const int64_t count = elements(&call->inputs[0]);
  if (call->inputs[0].dtype == D5_FLOAT32) {
    const float *x = call->inputs[0].data, *dy = call->grad_outputs[0].data;
    float* dx = call->grad_inputs[0].data;
    for (int64_t i = 0; i < count; ++i) dx[i] = (float)(scale * tanh(x[i]) * dy[i]);
  } else {
    const double *x = call->inputs[0].data, *dy = call->grad_outputs[0].data;
    double* dx = call->grad_inputs[0].data;
    for (int64_t i = 0; i < count; ++i) dx[i] = scale * tanh(x[i]) * dy[i];
  }
  return D5_OK;
}

static const d5_operator operators[] = {{
    .domain = "example",
    .name = "LogCosh",
    .since_version = 1,
    .create = create,
    .destroy = free,
    .infer = infer,
    .flop = flop,
    .forward = forward,
    .backward = backward,
}};

D5_EXPORT const d5_operator_table* d5_custom_operators(void) {
  static const d5_operator_table table = {D5_ABI_VERSION, sizeof(d5_operator), 1, operators};
  return &table;
}
