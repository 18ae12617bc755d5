/* SPDX-License-Identifier: Apache-2.0 */
/* Operators written outside d5, in C or in any language that can export C functions.
 *
 * A shared library exports one function, `d5_custom_operators`, that returns a table of operators.
 * d5 loads it at run time (`d5::load_custom_operators`), and treats them like its own: they are
 * registered by domain, name and range of opset versions, run in the graphs of every framework,
 * checked by the same gradient test, measured by the same commands. No C++ type crosses this
 * border, and no exception should: one that does fails the run that it came from.
 *
 *     examples/101_custom_operator/log_cosh.cpp is a complete one.
 *
 * This header has a version of its own. A library of another version is refused. Within a version
 * nothing is moved, removed or given another meaning; fields are only appended, to the structs that
 * carry their size. A library that leaves new fields out, or has some that d5 does not know yet, is
 * loaded all the same.
 */
#ifndef D5_ABI_H
#define D5_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define D5_ABI_VERSION 2
#define D5_MOST_DIMS 16
#define D5_EXPORT __attribute__((visibility("default")))

/* ONNX's numbers of element types (TensorProto.DataType); the common ones have names here. Types of
 * less than 8 bits take one byte an element. */
enum {
  D5_FLOAT32 = 1,
  D5_UINT8 = 2,
  D5_INT8 = 3,
  D5_INT32 = 6,
  D5_INT64 = 7,
  D5_BOOL = 9,
  D5_FLOAT16 = 10,
  D5_FLOAT64 = 11,
  D5_BFLOAT16 = 16
};

/* What went wrong. Each becomes the d5 exception of that name, with the message. */
typedef enum {
  D5_OK = 0,
  D5_SHAPE_ERROR = 1,
  D5_TYPE_ERROR = 2,
  D5_VALUE_ERROR = 3,
  D5_UNSUPPORTED = 4,
  D5_OTHER_ERROR = 5
} d5_status;

/* Filled by the operator before it returns something else than D5_OK; ends with a zero byte. */
typedef struct {
  char message[512];
} d5_error;

/* Where memory is and work runs. */
enum { D5_CPU = 1, D5_CUDA = 2 }; /* DLPack's numbers of kinds */
typedef struct {
  int32_t kind;
  int32_t index;
} d5_device;

/* A dense row-major array. Borrowed: it is valid during the call only.
 * A left-out input or output has dtype 0 and no data. */
typedef struct {
  void* data;
  const int64_t* dims; /* `rank` of them, outermost first */
  int32_t rank;
  int32_t dtype;
} d5_tensor;

/* What `infer` says about an output. */
typedef struct {
  int64_t dims[D5_MOST_DIMS];
  int32_t rank;
  int32_t dtype;
} d5_tensor_desc;

typedef enum {
  D5_ATTRIBUTE_INT = 1,    /* `integers`, one */
  D5_ATTRIBUTE_FLOAT = 2,  /* `floats`, one */
  D5_ATTRIBUTE_STRING = 3, /* `strings`, one */
  D5_ATTRIBUTE_INTS = 4,
  D5_ATTRIBUTE_FLOATS = 5,
  D5_ATTRIBUTE_STRINGS = 6
} d5_attribute_kind;

/* One attribute of a node: `count` values, in the array that `kind` says; the others are null. */
typedef struct {
  const char* name;
  int32_t kind;
  size_t count;
  const int64_t* integers;
  const float* floats;
  const char* const* strings;
} d5_attribute;

/* The node that an operator is made from; valid during `create` only. Attributes that hold tensors
 * or graphs are not passed on. */
typedef struct {
  size_t size; /* of this struct in the d5 that calls: what lies beyond is not there */
  const char* name;
  const char* op_type;
  int32_t opset;
  size_t input_count;
  size_t output_count;
  const d5_attribute* attributes;
  size_t attribute_count;
} d5_node;

/* One run, forward or backward. All tensors lie on `device`. */
typedef struct {
  size_t size; /* of this struct in the d5 that calls: what lies beyond is not there */
  const d5_tensor* inputs;
  size_t input_count;
  const d5_tensor* outputs;
  size_t output_count;
  const d5_tensor* grad_outputs; /* backward: one an output, without data where it is zero */
  const d5_tensor* grad_inputs;  /* backward: one an input, without data where nobody asks */
  d5_device device;
  void* stream; /* the device's own handle (a cudaStream_t) to queue work on; null on the host,
                   where all work is done when a call returns */
} d5_call;

/* One operator. Functions that may be null say so; so may all that are appended later.
 *
 * An instance is what `create` makes of a node. d5 asks one (`infer`, `flop`), perhaps from several
 * threads, and makes another for each kernel that runs, by one thread at a time. */
typedef struct {
  const char* domain; /* "" is ONNX's own; choose another */
  const char* name;
  int32_t since_version; /* the first opset version of `domain` that means this operator */
  int32_t until_version; /* the last one; 0: all later ones */
  int32_t device_kind;   /* of the memory that `forward` and `backward` work on; 0: the host's */

  /* Makes an instance; `*self` is handed to the other functions. May be null: there is no state. */
  d5_status (*create)(const d5_node* node, void** self, d5_error* error);
  /* Ends its life. May be null. */
  void (*destroy)(void* self);

  /* Writes one description an output. Inputs have data, on the host, where it is known before
   * running. */
  d5_status (*infer)(const void* self, const d5_tensor* inputs, size_t input_count,
                     d5_tensor_desc* outputs, size_t output_count, d5_error* error);

  /* Additions and multiplications of one forward run, counted apart; the inputs are those of
   * `infer`. May be null: the operator only moves elements. */
  d5_status (*flop)(const void* self, const d5_tensor* inputs, size_t input_count, double* flop,
                    d5_error* error);

  /* Writes every output that has data. */
  d5_status (*forward)(void* self, const d5_call* call, d5_error* error);

  /* Overwrites every input gradient that has data with the vector-Jacobian product of the output
   * gradients. May be null: not differentiable. */
  d5_status (*backward)(void* self, const d5_call* call, d5_error* error);

  /* The same on memory of a CUDA device, for an operator that has both: work is queued on the
   * call's stream, and errors of launching it are answered. Both may be null. */
  d5_status (*forward_cuda)(void* self, const d5_call* call, d5_error* error);
  d5_status (*backward_cuda)(void* self, const d5_call* call, d5_error* error);
} d5_operator;

typedef struct {
  int32_t abi_version;  /* D5_ABI_VERSION, first in all versions */
  size_t operator_size; /* sizeof(d5_operator) where the library was built */
  size_t operator_count;
  const d5_operator* operators;
} d5_operator_table;

/* What a library exports. The table lives as long as the library. */
D5_EXPORT const d5_operator_table* d5_custom_operators(void);

#ifdef __cplusplus
}
#endif
#endif
