// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

namespace d5::detail {

/// Streams on their way between ranks; their sizes in bytes differ. Where it is held, so is the
/// memory of its calls.
class StreamMessages {
 public:
  StreamMessages(Communicator& ranks, int tag) : ranks_(ranks), tag_(tag) {}

  void send(const SparseStream& stream, int to);
  /// Of so many elements.
  void receive(std::int64_t size, int from);
  /// To be waited for: `co_await messages.calls()` of a variable.
  [[nodiscard]] const std::vector<std::unique_ptr<Request>>& calls() const { return calls_; }
  /// What `rank` sent, once all is done. Throws: CommunicationError, naming it.
  [[nodiscard]] SparseStream from(int rank) const;

 private:
  struct Incoming {
    int from;
    std::int64_t size;
    Tensor message;
    std::unique_ptr<Received> received;
  };

  Communicator& ranks_;
  int tag_;
  std::vector<Incoming> incoming_;
  std::vector<std::unique_ptr<Request>> calls_;  // before what they write is let go of
};

/// The parts one after the other, part r of `begins[r + 1] - begins[r]` elements.
[[nodiscard]] SparseStream joined(const std::vector<SparseStream>& parts,
                                  const std::vector<std::int64_t>& begins);

}  // namespace d5::detail
