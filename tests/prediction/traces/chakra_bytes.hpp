// SPDX-License-Identifier: Apache-2.0
// Bytes of Chakra traces, by protobuf's wire format: a judge that knows nothing of d5's messages.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace d5::testing {

inline std::string varint(std::uint64_t number) {
  std::string bytes;
  for (; number > 127; number >>= 7) bytes += static_cast<char>((number & 127) | 128);
  return bytes + static_cast<char>(number);
}
inline std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
inline std::string bytes(int field, const std::string& value) {
  return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
}
inline std::string fixed64(int field, std::uint64_t value) {
  std::string result = varint((static_cast<std::uint64_t>(field) << 3) | 1);
  for (int i = 0; i < 8; ++i) result += static_cast<char>(value >> (8 * i));
  return result;
}
inline std::string fixed32(int field, std::uint32_t value) {
  std::string result = varint((static_cast<std::uint64_t>(field) << 3) | 5);
  for (int i = 0; i < 4; ++i) result += static_cast<char>(value >> (8 * i));
  return result;
}
inline std::string real(int field, double value) {
  return fixed64(field, std::bit_cast<std::uint64_t>(value));
}
inline std::string list(int field, const std::vector<std::uint64_t>& values) {
  std::string packed;
  for (const std::uint64_t each : values) packed += varint(each);
  return values.empty() ? "" : bytes(field, packed);
}

/// An attribute of a node; `value` is its field in the oneof.
inline std::string attribute(const std::string& name, const std::string& value) {
  return bytes(10, bytes(1, name) + value);
}
inline std::string is_cpu(bool value) { return attribute("is_cpu_op", number(27, value ? 1 : 0)); }
inline std::string whole(const std::string& name, std::uint64_t value) {
  return attribute(name, number(9, value));
}

struct NodeBytes {
  std::uint64_t id = 0;
  std::string name = {};
  int type = 4;
  std::vector<std::uint64_t> control = {}, data = {};
  std::uint64_t micros = 0;
  std::string rest = {};  ///< fields from 8 on

  [[nodiscard]] std::string message() const {
    std::string body;
    if (id > 0) body += number(1, id);
    if (!name.empty()) body += bytes(2, name);
    if (type > 0) body += number(3, static_cast<std::uint64_t>(type));
    body += list(4, control) + list(5, data);
    if (micros > 0) body += number(7, micros);
    return varint((body + rest).size()) + body + rest;
  }
};

/// A trace: metadata of schema 1.0.1, then the nodes.
inline std::string trace_bytes(const std::vector<NodeBytes>& nodes) {
  const std::string schema = bytes(2, bytes(1, "schema") + bytes(29, "1.0.1"));
  std::string all = varint(schema.size()) + schema;
  for (const NodeBytes& each : nodes) all += each.message();
  return all;
}

/// A matrix product and a call of an all-reduce by the host, a kernel, and the all-reduce on the
/// device: of 8 MB, in 500 us.
inline std::vector<NodeBytes> small_nodes() {
  const std::string tensors = bytes(1, "[3]") + bytes(2, "[[2, 2]]") + bytes(3, "['Tensor']");
  return {
      {.id = 10,
       .name = "aten::mm",
       .micros = 100,
       .rest = bytes(8, tensors) + is_cpu(true) + whole("tid", 1)},
      {.id = 11,
       .name = "gemm",
       .data = {10},
       .micros = 300,
       .rest = is_cpu(false) + whole("tid", 7)},
      {.id = 12,
       .name = "c10d::allreduce_",
       .type = 7,
       .data = {10},
       .micros = 20,
       .rest = is_cpu(true) + whole("tid", 1)},
      {.id = 13,
       .name = "nccl",
       .type = 7,
       .data = {11, 12},
       .micros = 500,
       .rest = is_cpu(false) + whole("comm_type", 0) + whole("comm_size", 8'000'000) +
               attribute("involved_dim", bytes(28, list(1, {1, 0})))},
  };
}

}  // namespace d5::testing
