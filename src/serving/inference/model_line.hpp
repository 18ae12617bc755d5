// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/files/owned_descriptor.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// What is said between a server and a process that answers for one of its models: words, and
/// tensors behind them.
struct ModelMessage {
  nlohmann::json words = nlohmann::json::object();
  ValueMap tensors = {};
};

/// One end of a line between the two: a socket that nobody else has. All tensors stand on the host
/// in the end, row-major.
class ModelLine {
 public:
  /// `other` is a descriptor that can be read once the other side has ended; -1: none.
  explicit ModelLine(OwnedDescriptor socket, int other = -1);

  /// False: the other side is gone, or has taken nothing until `deadline` (s, of `now_seconds`).
  [[nodiscard]] bool send(const nlohmann::json& words, const ValueMap& tensors, double deadline);
  /// Nothing: the other side is gone, or silent until `deadline`.
  /// Throws: FormatError for what is no message; MemoryError.
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
