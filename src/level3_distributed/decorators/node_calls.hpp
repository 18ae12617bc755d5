// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level3_distributed/communication_call.hpp"
#include "d5/level3_distributed/communicator.hpp"
#include "level3_distributed/node/node_exchange.hpp"

namespace d5::detail {

/// Short collectives of the ranks of one node in its memory, one at a time.
class NodeCalls {
 public:
  /// Null where the ranks do not share a node, or it has no room. A collective.
  [[nodiscard]] static std::unique_ptr<NodeCalls> make(std::shared_ptr<Communicator> ranks);

  /// Null for a call of another kind, and a long one.
  [[nodiscard]] std::unique_ptr<Request> start(const CommunicationCall& call);

 private:
  NodeCalls(std::shared_ptr<Communicator> ranks, std::unique_ptr<NodeExchange> exchange);
  [[nodiscard]] std::unique_ptr<Request> start_all_gather(const CommunicationCall& call);

  std::shared_ptr<Communicator> ranks_;  // of which nobody hears
  std::unique_ptr<NodeExchange> exchange_;
  Tensor token_;
};

}  // namespace d5::detail
