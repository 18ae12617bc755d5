// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::onnx::detail {

/// The file that is being read: its name for messages, and what it has asked for so far.
struct Source {
  std::string file;
  /// Where external data may lie; none if the bytes came from memory.
  std::optional<std::string> folder = {};
  Interrupt interrupt = {};
  std::size_t tensor_bytes = 0;  ///< of all tensors read so far

  /// Throws: Interrupted, where loading shall end.
  void go_on() const;
  /// Counts a tensor's bytes before it is allocated. Throws: MemoryError above the budget;
  /// Interrupted.
  void take(std::size_t bytes, std::string_view tensor);
  /// "'model.onnx': <what>" as FormatError.
  [[noreturn]] void fail(std::string_view what) const;
  [[noreturn]] void refuse(std::string_view what) const;  ///< the same as Unsupported
  /// A message of a library, which may quote names from the file: one safe line.
  [[noreturn]] void fail(std::string_view what, const std::exception& reason) const;
  /// Tells `listen_to_notes` what the file leaves out, and what it is read as.
  void note(const std::string& what) const;
};

/// `text` with line ends as spaces and other control characters escaped, cut to about 1000 bytes.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace d5::onnx::detail
