// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/process/owned_process.hpp"
#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// An array that a Python function returned.
struct PythonArray {
  DType dtype = DType::undefined;
  std::vector<std::int64_t> dims = {};
  std::string bytes = {};
};

/// A process that calls one function of a Python file, array by array. The first call starts it,
/// and so does a call after one that ended it. Thread safety: one call at a time.
class PythonWorker {
 public:
  /// `seconds`: time limit of a call, after which the process is ended.
  PythonWorker(std::string file, std::string function, double seconds)
      : file_(std::move(file)), function_(std::move(function)), seconds_(seconds) {}

  /// Throws: FormatError with Python's message, and for a call that ends the process or exceeds the
  /// time limit; IoError if the process cannot be started.
  [[nodiscard]] PythonArray call(DType dtype, const std::vector<std::int64_t>& dims,
                                 std::string_view bytes);

 private:
  void begin();
  void end();
  [[nodiscard]] std::string who() const;
  /// Throws: FormatError if no bytes arrive in time.
  void receive(std::string& bytes, double deadline);
  [[nodiscard]] std::string receive_line(double deadline);
  [[nodiscard]] std::string receive_bytes(std::size_t count, double deadline);

  std::string file_, function_;
  double seconds_;
  std::optional<OwnedProcess> process_ = {};
  OwnedDescriptor socket_ = OwnedDescriptor();
  std::string received_ = {};  ///< bytes received ahead
};

}  // namespace d5::detail
