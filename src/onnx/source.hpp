// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "d5/core/interrupts/interrupt.hpp"

namespace d5::onnx::detail {

/// The file being read: its name for messages, and its memory use so far.
struct Source {
  std::string file;
  /// The folder of external data; none if the bytes came from memory.
  std::optional<std::string> folder = {};
  Interrupt interrupt = {};
  std::size_t tensor_bytes = 0;  ///< bytes of all tensors read so far

  /// Throws: Interrupted, if loading shall end.
  void go_on() const;
  /// Counts a tensor's bytes before it is allocated. Throws: MemoryError above the budget;
  /// Interrupted.
  void take(std::size_t bytes, std::string_view tensor);
  /// "'model.onnx': <what>" as FormatError.
  [[noreturn]] void fail(std::string_view what) const;
  [[noreturn]] void refuse(std::string_view what) const;  ///< `fail` with Unsupported
  /// `fail` with a library's message, which may contain names from the file, as one safe line.
  [[noreturn]] void fail(std::string_view what, const std::exception& reason) const;
  /// Sends a note on a tolerated deviation to the listener (`listen_to_notes`).
  void note(const std::string& what) const;
};

/// `text` with line ends as spaces and other control characters escaped, truncated to about 1000
/// bytes.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace d5::onnx::detail
