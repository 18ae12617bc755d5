// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Writer and readers of each tensor of a network. A snapshot: an edit invalidates it, and the
/// nodes that it points to.
class GraphLinks {
 public:
  explicit GraphLinks(const Network& network);

  /// Null for inputs and initializers.
  [[nodiscard]] const onnx::Node* writer(std::string_view tensor) const;
  /// Each reader once, in order, including nodes whose graphs capture the tensor.
  [[nodiscard]] const std::vector<const onnx::Node*>& readers(std::string_view tensor) const;
  /// Whether it is read from outside: an output of the network, or the new value of an update.
  [[nodiscard]] bool leaves(std::string_view tensor) const { return leaving_.contains(tensor); }
  [[nodiscard]] bool is_read(std::string_view tensor) const {
    return leaves(tensor) || !readers(tensor).empty();
  }

 private:
  std::map<std::string, const onnx::Node*, std::less<>> writers_;
  std::map<std::string, std::vector<const onnx::Node*>, std::less<>> readers_;
  std::set<std::string, std::less<>> leaving_;
};

/// A value that is constant over runs and not trained, on the host or a device; null for any other
/// tensor.
[[nodiscard]] const Tensor* fixed_value(const Network& network, std::string_view tensor);
/// The same, parameters too.
[[nodiscard]] const Tensor* known_value(const Network& network, std::string_view tensor);

/// Removes those of `names` that are parameters or constants without readers. Returns their number.
std::size_t remove_unread_values(Network& network, const std::set<std::string>& names);

/// Removes the nodes that write the keys of `instead`: readers of such a tensor read the value it
/// is mapped to. If the tensor is an output of the network, an Identity writes it.
void bypass(Network& network, const std::map<std::string, std::string, std::less<>>& instead);

}  // namespace d5
