// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Shared memory between the judge and the process of a judged source. The judge writes `Orders`,
/// which that process can only read; the process writes `Answers`, which the judge never trusts.
namespace d5::judged {

/// The library's path in the judged process; the judge answers its opening with the compiled file.
inline constexpr const char* kLibraryPath = "/judged/kernel.so";

inline constexpr std::size_t kMostTensors = 128, kMostDims = 16, kMostText = 256;
inline constexpr std::size_t kMostAttributeBytes = 1 << 16;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kGuardBytes = 16 * kPage;  ///< inaccessible on both sides of a tensor

/// Descriptors in the only message to the process, in this order.
enum Passed { kOrders, kAnswers, kInputs, kOutputs, kPassedCount };

enum class Order : std::int32_t {
  nothing,   ///< stops at once: measures stopping and going on
  load,      ///< confines itself, then loads the library
  prepare,   ///< maps the tensors of the next call, and makes the operator's instance
  forward,   ///< runs forward
  backward,  ///< runs backward
};

/// A tensor of a call: whole pages of the memory of inputs (all that is read) or outputs (all that
/// is written), with the elements inside.
struct Placed {
  std::uint64_t page_offset, page_bytes;  ///< in the memory of inputs or of outputs
  std::uint64_t lead_bytes;               ///< from the first page's begin to the first element
  std::uint64_t address;                  ///< drawn; where the pages shall lie
  std::int64_t dims[kMostDims];
  std::int32_t rank, dtype;  ///< dtype 0: left out
};

/// Attributes follow each other: kind, count and the name's length (3 x uint32), the name, then the
/// values: integers of 8 bytes, reals of 4, texts as a uint32 length and their bytes.
struct Orders {
  Order order;
  std::int32_t most_threads;
  std::uint64_t number;  ///< number of the call
  std::int32_t case_index, opset;
  char name[kMostText];  ///< the operator's
  std::uint32_t input_count, output_count, attribute_count, attribute_bytes;
  /// Inputs and outputs; for backward then a gradient of each output, and of each input. The first
  /// `read_count` are read, the others written.
  Placed tensors[kMostTensors];
  std::uint32_t tensor_count, read_count;
  char attributes[kMostAttributeBytes];
};

struct Answers {
  std::uint64_t returned;       ///< number of the last call that returned
  std::int32_t status;          ///< d5_status
  std::int32_t landlock;        ///< its version, written before the source is loaded; 0: none
  std::uint64_t fault_address;  ///< address of a wrong access; 0: none
  char message[512];
};

}  // namespace d5::judged
