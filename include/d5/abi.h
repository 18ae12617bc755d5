/* SPDX-License-Identifier: Apache-2.0 */
/* Operators written outside d5, in C or in any language that can export C functions.
 *
 * A shared library exports one function, `d5_custom_operators`, that returns a table of operators.
 * d5 loads it at run time (`d5::load_custom_operators`), and treats them like its own: they are
 * registered by domain, name and range of opset versions, run in the graphs of every framework,
 * checked by the same gradient test, measured by the same commands. No C++ type crosses this
 * interface, and no exception should: an exception that does fails the run.
 *
 *     examples/101_custom_operator/log_cosh.cpp is a complete example.
 *
 * The header has its own version, and d5 refuses a library of another version. Within a version
 * nothing is moved, removed or redefined; fields are only appended, to structs that contain their
 * size. d5 also loads libraries with fewer fields, or with more fields than it knows.
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

/* Whether the calling d5 has `field` in a struct that begins with its size: false if d5 was built
 * before the field was appended. */
#define D5_HAS(pointer, field) \
  ((const char*)(&(pointer)->field + 1) <= (const char*)(pointer) + (pointer)->size)

/* ONNX's numbers of common element types (TensorProto.DataType). Types of less than 8 bits take one
 * byte per element. */
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

/* Result of a call. Each error becomes the d5 exception of that name, with the message. */
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

/* Error message, zero-terminated. The operator fills it before it returns an error. */
typedef struct {
  char message[512];
} d5_error;

/* A device that holds memory and runs work. */
enum { D5_CPU = 1, D5_CUDA = 2 }; /* DLPack's numbers of device kinds */
typedef struct {
  int32_t kind;
  int32_t index;
} d5_device;

/* A dense row-major array. Borrowed: it is valid during the call only.
 * An omitted input or output has dtype 0 and no data. */
typedef struct {
  void* data;
  const int64_t* dims; /* `rank` of them, outermost first */
  int32_t rank;
  int32_t dtype;
} d5_tensor;

/* Description of an output, from `infer`. */
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

/* An attribute of a node: `count` values, in the array for `kind`; the other arrays are null. */
typedef struct {
  const char* name;
  int32_t kind;
  size_t count;
  const int64_t* integers;
  const float* floats;
  const char* const* strings;
} d5_attribute;

/* Reductions over ranks. */
enum { D5_SUM = 0, D5_MAXIMUM = 1, D5_MINIMUM = 2 };
/* Source for `receive`: the first message from any rank. */
enum { D5_ANY_RANK = -1 };

/* A pending call. */
typedef struct d5_request d5_request;

/* A communicator: a group of ranks, as seen by one of them. Returned by `d5_node.communicator`, it
 * lives as long as the operator's instance. `create` and `infer` may read `rank` and `ranks`. Only
 * `forward` and `backward` may call its functions; they run in the graph's order and its reverse.
 *
 * All ranks must call the same collectives in the same order, with tensors of one type and size.
 * Calls are blocking; d5 checks, counts and times them as those of its own operators. Tensors are
 * in host memory. A tensor with a part for each rank holds equal parts in the order of ranks.
 * Return errors of a call unchanged. */
typedef struct d5_communicator d5_communicator;
struct d5_communicator {
  size_t size; /* bytes of this struct in the calling d5; fields beyond them do not exist */
  int32_t rank;
  int32_t ranks;

  /* Reduces in place, to the same bits on every rank. */
  d5_status (*all_reduce)(const d5_communicator* group, const d5_tensor* data, int32_t reduction,
                          d5_error* error);
  /* Overwrites `data` with the data of rank `root`. */
  d5_status (*broadcast)(const d5_communicator* group, const d5_tensor* data, int32_t root,
                         d5_error* error);
  /* Gathers every rank's `mine` in `all`. */
  d5_status (*all_gather)(const d5_communicator* group, const d5_tensor* mine, const d5_tensor* all,
                          d5_error* error);
  /* Reduces `all`, and writes this rank's part to `mine`. */
  d5_status (*reduce_scatter)(const d5_communicator* group, const d5_tensor* all,
                              const d5_tensor* mine, int32_t reduction, d5_error* error);
  /* Sends part r of `to_each` to rank r, and receives part r of `from_each` from it. */
  d5_status (*all_to_all)(const d5_communicator* group, const d5_tensor* to_each,
                          const d5_tensor* from_each, d5_error* error);
  d5_status (*barrier)(const d5_communicator* group, d5_error* error);

  /* Point to point: both sides use the same number of elements and the same tag, 0 to 16383. */
  d5_status (*send)(const d5_communicator* group, const d5_tensor* data, int32_t to, int32_t tag,
                    d5_error* error);
  d5_status (*receive)(const d5_communicator* group, const d5_tensor* data, int32_t from,
                       int32_t tag, d5_error* error);

  /* Nonblocking versions. d5 owns `data` until `wait`, which must be called once for each request
   * before `forward` or `backward` returns. Ranks that send to each other must use these. */
  d5_status (*start_all_reduce)(const d5_communicator* group, const d5_tensor* data,
                                int32_t reduction, d5_request** request, d5_error* error);
  d5_status (*start_send)(const d5_communicator* group, const d5_tensor* data, int32_t to,
                          int32_t tag, d5_request** request, d5_error* error);
  d5_status (*start_receive)(const d5_communicator* group, const d5_tensor* data, int32_t from,
                             int32_t tag, d5_request** request, d5_error* error);
  d5_status (*wait)(const d5_communicator* group, d5_request* request, d5_error* error);

  void* self; /* private to d5 */
};

/* The node of an operator; valid during `create` only. Attributes with tensors or graphs are not
 * included. */
typedef struct d5_node {
  size_t size; /* bytes of this struct in the calling d5; fields beyond them do not exist */
  const char* name;
  const char* op_type;
  int32_t opset;
  size_t input_count;
  size_t output_count;
  const d5_attribute* attributes;
  size_t attribute_count;

  /* The communicator of a group, by name. A null name means the node's attribute `group`, or
   * "world": all ranks of the job. D5_NOT_FOUND for an unknown group, D5_UNSUPPORTED if d5 was
   * started without ranks. A node with a communicator is never folded to a constant. */
  d5_status (*communicator)(const struct d5_node* node, const char* group,
                            const d5_communicator** result, d5_error* error);
} d5_node;

/* A run, forward or backward. All tensors are on `device`. */
typedef struct {
  size_t size; /* bytes of this struct in the calling d5; fields beyond them do not exist */
  const d5_tensor* inputs;
  size_t input_count;
  const d5_tensor* outputs;
  size_t output_count;
  const d5_tensor* grad_outputs; /* backward: one per output, without data if zero */
  const d5_tensor* grad_inputs;  /* backward: one per input, without data if not needed */
  d5_device device;
  void* stream; /* native stream (a cudaStream_t) for the work; null on the host, where all work
                   must be done when a call returns */
} d5_call;

/* An operator. Functions may be null where noted; so may all functions appended later.
 *
 * `create` makes an instance for a node. d5 calls `infer` and `flop` of one instance, possibly from
 * several threads, and creates another instance for each kernel, used by one thread at a time. */
typedef struct {
  const char* domain; /* not "", which is ONNX's */
  const char* name;
  int32_t since_version; /* first opset version of `domain` with this operator */
  int32_t until_version; /* last opset version; 0: no limit */
  int32_t device_kind;   /* device of `forward` and `backward`; 0: the host */

  /* Makes an instance; `*self` is passed to the other functions. May be null: no state. */
  d5_status (*create)(const d5_node* node, void** self, d5_error* error);
  /* Destroys an instance. May be null. */
  void (*destroy)(void* self);

  /* Writes one description per output. Inputs have data, on the host, if it is known before
   * running. */
  d5_status (*infer)(const void* self, const d5_tensor* inputs, size_t input_count,
                     d5_tensor_desc* outputs, size_t output_count, d5_error* error);

  /* Additions and multiplications of one forward run, counted separately, for the inputs of
   * `infer`. May be null: the operator only moves elements. */
  d5_status (*flop)(const void* self, const d5_tensor* inputs, size_t input_count, double* flop,
                    d5_error* error);

  /* Writes every output that has data. */
  d5_status (*forward)(void* self, const d5_call* call, d5_error* error);

  /* Overwrites every input gradient that has data with the vector-Jacobian product of the output
   * gradients. May be null: not differentiable. */
  d5_status (*backward)(void* self, const d5_call* call, d5_error* error);

  /* `forward` and `backward` on a CUDA device, for an operator that also has host versions. They
   * queue work on the call's stream and return launch errors. Both may be null. */
  d5_status (*forward_cuda)(void* self, const d5_call* call, d5_error* error);
  d5_status (*backward_cuda)(void* self, const d5_call* call, d5_error* error);
} d5_operator;

typedef struct {
  int32_t abi_version;  /* D5_ABI_VERSION, first in all versions */
  size_t operator_size; /* sizeof(d5_operator) when the library was built */
  size_t operator_count;
  const d5_operator* operators;
} d5_operator_table;

/* The function that a library exports. The table lives as long as the library. */
D5_EXPORT const d5_operator_table* d5_custom_operators(void);

#ifdef __cplusplus
}
#endif
#endif
