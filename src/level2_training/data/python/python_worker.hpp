// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/process/owned_process.hpp"
#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// A function of a Python file, as manifests name it: "FILE.py::NAME".
struct PythonFunction {
  /// What it gets and returns: one array, or a dict of arrays by name.
  enum class Form { array, values };

  std::string file, name;
  Form form = Form::array;
  double seconds = 60;  ///< time limit of a call, after which its process is ended

  /// Throws: ValueError for a word of another form.
  static PythonFunction of(const std::string& word, Form form, double seconds);
};

/// A process that calls one function of a Python file. The first call starts it, and so does a call
/// after one that ended it. Thread safety: one call at a time.
class PythonWorker {
 public:
  explicit PythonWorker(PythonFunction function) : function_(std::move(function)) {}

  /// Calls the function with tensors, numbers or text; with the form `array` with the only one.
  /// Throws: FormatError with Python's message, and for a call that ends the process or exceeds the
  /// time limit; IoError if the process cannot be started.
  [[nodiscard]] ValueMap call(const ValueMap& values);

 private:
  void begin();
  void end();
  [[nodiscard]] std::string who() const;
  void ask(const ValueMap& values);
  [[nodiscard]] ValueMap answer(double deadline);
  /// Throws: FormatError if no bytes arrive in time.
  void receive(std::string& bytes, double deadline);
  [[nodiscard]] std::string receive_line(double deadline);
  [[nodiscard]] std::string receive_bytes(std::size_t count, double deadline);

  PythonFunction function_;
  std::optional<OwnedProcess> process_ = {};
  OwnedDescriptor socket_ = OwnedDescriptor();
  std::string received_ = {};  ///< bytes received ahead
};

/// Workers of one function for any number of threads: as many as call at once.
class PythonWorkers {
 public:
  explicit PythonWorkers(PythonFunction function) : function_(std::move(function)) {}
  /// Throws: what `PythonWorker::call` throws.
  [[nodiscard]] ValueMap call(const ValueMap& values);

 private:
  PythonFunction function_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PythonWorker>> idle_;
};

}  // namespace d5::detail
