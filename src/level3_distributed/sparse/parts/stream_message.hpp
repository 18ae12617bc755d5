// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

namespace d5::detail {

/// Messages of streams between ranks, which differ in size. It owns the memory of its calls.
class StreamMessages {
 public:
  StreamMessages(Communicator& ranks, int tag) : ranks_(ranks), tag_(tag) {}

  void send(const SparseStream& stream, int to);
  /// Starts to receive a stream of `size` elements.
  void receive(std::int64_t size, int from);
  /// The calls in flight: `co_await messages.calls()`, where `messages` is a variable.
  [[nodiscard]] const std::vector<std::unique_ptr<Request>>& calls() const { return calls_; }
  /// The stream from `rank`, once all calls are done. Throws: CommunicationError that names the
  /// rank.
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
  std::vector<std::unique_ptr<Request>> calls_;  // destroyed before their memory
};

/// Concatenates the parts; part r has `begins[r + 1] - begins[r]` elements.
[[nodiscard]] SparseStream joined(const std::vector<SparseStream>& parts,
                                  const std::vector<std::int64_t>& begins);

}  // namespace d5::detail
