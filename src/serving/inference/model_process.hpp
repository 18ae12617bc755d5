// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/process/owned_process.hpp"
#include "serving/inference/model_line.hpp"

namespace d5::detail {

/// How a process that answers for a model is begun.
struct ModelCommand {
  std::vector<std::string> words;  ///< a program that calls `answer_alone`
  double most_seconds = 60;        ///< for an answer
  std::size_t most_bytes = 0;      ///< of address space; 0: as much as there is
  double first_wait = 1;           ///< s after three losses in a row
};

/// A process that answers for a model, asked over a socket that both alone have.
class ModelProcess {
 public:
  /// Begins it. Throws: IoError where it cannot be started.
  explicit ModelProcess(const ModelCommand& command);

  /// What it answers within `seconds`.
  /// Throws: what it tells; Lost where there is no answer: it is of no use any more.
  [[nodiscard]] ValueMap ask(const nlohmann::json& words, const ValueMap& tensors, double seconds);
  class Lost;

  [[nodiscard]] bool has_ended() { return process_.has_ended(); }
  /// "it was ended by SIGSEGV (Segmentation fault)", "it ended with status 3"
  [[nodiscard]] std::string how_it_ended() const;
  /// Thread safety: any. Whoever asks it loses it.
  void kill() const { process_.kill(); }

 private:
  ModelProcess(const ModelCommand& command, DescriptorPair sockets);
  /// Ends it, if it does not do so itself. Why there was no answer.
  [[nodiscard]] std::string end(double deadline, double seconds);
  OwnedProcess process_;
  ModelLine line_;
};

/// Its process ended, or was ended for its silence: how.
class ModelProcess::Lost : public CommunicationError {
  using CommunicationError::CommunicationError;
};

}  // namespace d5::detail
