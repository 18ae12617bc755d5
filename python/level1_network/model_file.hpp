// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "bindings.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level1_network/graph/network.hpp"

namespace d5::python {

/// The model of a call: a network in memory, or a word of open_model.
using NetworkOrFile = std::variant<Path, Network>;

/// The word of open_model for it: a network is written to a file, named after it, that exists as
/// long as this. Construct and destroy it with the GIL.
class ModelFile {
 public:
  /// Throws: IoError, if the file cannot be written.
  explicit ModelFile(const NetworkOrFile& model);
  ~ModelFile();
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  [[nodiscard]] const std::string& word() const { return word_; }
  /// Runs `work`. Errors name the network in place of its file, which is gone afterwards.
  void run(const std::function<void()>& work) const;
  /// Replaces the folder of a network in memory, which is gone afterwards, in reasons, and in the
  /// commands that measure again: they read NAME.onnx, which network.save writes.
  void rename_in(std::vector<Measurement>& rows) const;

 private:
  [[nodiscard]] std::string renamed(std::string text) const;

  py::object folder_;  // a tempfile.TemporaryDirectory; null: none
  std::string word_;
};

}  // namespace d5::python
