// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/files/owned_descriptor.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// A message between a server and the process of one of its models: JSON, then tensors.
struct ModelMessage {
  nlohmann::json words = nlohmann::json::object();
  ValueMap tensors = {};
};

/// One end of the private socket between the two. Received tensors are on the host, row-major.
class ModelLine {
 public:
  /// `other` is a descriptor that becomes readable when the other side has ended; -1: none.
  explicit ModelLine(OwnedDescriptor socket, int other = -1);

  /// Returns false if the other side has ended, or accepts nothing until `deadline` (s, of
  /// `now_seconds`).
  [[nodiscard]] bool send(const nlohmann::json& words, const ValueMap& tensors, double deadline);
  /// Returns nullopt if the other side has ended, or sends nothing until `deadline`.
  /// Throws: FormatError for an invalid message; MemoryError.
  [[nodiscard]] std::optional<ModelMessage> receive(double deadline);

 private:
  bool wait(short events, double deadline) const;
  bool send_bytes(std::string_view bytes, double deadline) const;
  bool receive_bytes(void* bytes, std::size_t count, double deadline) const;
  std::string buffer_;
  OwnedDescriptor socket_;
  int other_;
};

}  // namespace d5::detail
