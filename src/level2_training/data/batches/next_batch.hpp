// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/network_feed.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// A node that writes `fields` of the feed's batch into tensors of the same names. It holds the
/// feed's number, which means something in this process alone, and not the feed.
[[nodiscard]] onnx::Node next_batch_node(const std::shared_ptr<NetworkFeed>& feed,
                                         const std::vector<std::string>& fields);
[[nodiscard]] bool is_next_batch(const onnx::Node& node);

}  // namespace d5::detail
