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

/* Whether the d5 that calls has `field` of a struct that begins with its size: one that was built
 * before the field was appended has not. */
#define D5_HAS(pointer, field) \
  ((const char*)(&(pointer)->field + 1) <= (const char*)(pointer) + (pointer)->size)

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
  D5_OTHER_ERROR = 5,
  D5_COMMUNICATION_ERROR = 6, /* between ranks */
  D5_NOT_FOUND = 7
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

/* How elements of several ranks become one. */
enum { D5_SUM = 0, D5_MAXIMUM = 1, D5_MINIMUM = 2 };
/* Of `receive`: from whoever sends first. */
enum { D5_ANY_RANK = -1 };

/* A call that is under way. */
typedef struct d5_request d5_request;

/* A group of ranks that talk to each other, as one of them sees it: `d5_node.communicator` gives
 * it, and it lives as long as the instance. `create` and `infer` may read `rank` and `ranks`; calls
 * are for `forward` and `backward`, which run in the order of the graph, and back in the reverse.
 *
 * All ranks make the same collectives in the same order, with tensors of one type and size. A call
 * that returns is done; d5 checks, counts and times it as those of its own operators. Tensors are
 * in the host's memory; of those with a part for each rank, rank r's is the r-th of equal ones, one
 * after the other. What a call answers other than D5_OK is best returned as it is. */
typedef struct d5_communicator d5_communicator;
struct d5_communicator {
  size_t size; /* of this struct in the d5 that calls: what lies beyond is not there */
  int32_t rank;
  int32_t ranks;

  /* In place: the same bits on every rank. */
  d5_status (*all_reduce)(const d5_communicator* group, const d5_tensor* data, int32_t reduction,
                          d5_error* error);
  /* Overwrites `data` with that of rank `root`. */
  d5_status (*broadcast)(const d5_communicator* group, const d5_tensor* data, int32_t root,
                         d5_error* error);
  /* `all` gets every rank's `mine`. */
  d5_status (*all_gather)(const d5_communicator* group, const d5_tensor* mine, const d5_tensor* all,
                          d5_error* error);
  /* `mine` gets this rank's part of `all`, reduced. */
  d5_status (*reduce_scatter)(const d5_communicator* group, const d5_tensor* all,
                              const d5_tensor* mine, int32_t reduction, d5_error* error);
  /* Part r of `to_each` goes to rank r, from whom part r of `from_each` comes. */
  d5_status (*all_to_all)(const d5_communicator* group, const d5_tensor* to_each,
                          const d5_tensor* from_each, d5_error* error);
  d5_status (*barrier)(const d5_communicator* group, d5_error* error);

  /* To one rank, which receives as many elements with the same tag: 0 to 16383. */
  d5_status (*send)(const d5_communicator* group, const d5_tensor* data, int32_t to, int32_t tag,
                    d5_error* error);
  d5_status (*receive)(const d5_communicator* group, const d5_tensor* data, int32_t from,
                       int32_t tag, d5_error* error);

  /* The same, under way when they return: `data` is d5's until `wait`, which each is given to once,
   * before `forward` or `backward` returns. Ranks that send to each other do it by these. */
  d5_status (*start_all_reduce)(const d5_communicator* group, const d5_tensor* data,
                                int32_t reduction, d5_request** request, d5_error* error);
  d5_status (*start_send)(const d5_communicator* group, const d5_tensor* data, int32_t to,
                          int32_t tag, d5_request** request, d5_error* error);
  d5_status (*start_receive)(const d5_communicator* group, const d5_tensor* data, int32_t from,
                             int32_t tag, d5_request** request, d5_error* error);
  d5_status (*wait)(const d5_communicator* group, d5_request* request, d5_error* error);

  void* self; /* d5's own */
};

/* The node that an operator is made from; valid during `create` only. Attributes that hold tensors
 * or graphs are not passed on. */
typedef struct d5_node {
  size_t size; /* of this struct in the d5 that calls: what lies beyond is not there */
  const char* name;
  const char* op_type;
  int32_t opset;
  size_t input_count;
  size_t output_count;
  const d5_attribute* attributes;
  size_t attribute_count;

  /* The ranks of a group, by its name; a null name is that of the node's attribute `group`, or
   * "world": all ranks of the job. D5_NOT_FOUND where no group has the name, D5_UNSUPPORTED where
   * d5 was started without ranks. Who has asked runs each time, however constant its inputs are. */
  d5_status (*communicator)(const struct d5_node* node, const char* group,
                            const d5_communicator** result, d5_error* error);
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
