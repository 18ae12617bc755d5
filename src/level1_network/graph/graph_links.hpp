// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph/network.hpp"

namespace d5 {

/// Who writes and who reads each tensor of a network, as it is when this is made: an edit ends its
/// truth, and the nodes that it names.
class GraphLinks {
 public:
  explicit GraphLinks(const Network& network);

  /// Null for inputs and initializers.
  [[nodiscard]] const onnx::Node* writer(std::string_view tensor) const;
  /// Each once, in order; one whose graphs capture the tensor, too.
  [[nodiscard]] const std::vector<const onnx::Node*>& readers(std::string_view tensor) const;
  /// Read from outside: an output of the network, or what an update takes over.
  [[nodiscard]] bool leaves(std::string_view tensor) const { return leaving_.contains(tensor); }
  [[nodiscard]] bool is_read(std::string_view tensor) const {
    return leaves(tensor) || !readers(tensor).empty();
  }

 private:
  std::map<std::string, const onnx::Node*, std::less<>> writers_;
  std::map<std::string, std::vector<const onnx::Node*>, std::less<>> readers_;
  std::set<std::string, std::less<>> leaving_;
};

/// A value that is the same in every run and that nothing trains, on the host or a device; null for
/// any other tensor.
[[nodiscard]] const Tensor* fixed_value(const Network& network, std::string_view tensor);
/// The same, parameters too.
[[nodiscard]] const Tensor* known_value(const Network& network, std::string_view tensor);

/// Takes out those of `names` that are parameters or constants which nothing reads. How many.
std::size_t remove_unread_values(Network& network, const std::set<std::string>& names);

/// Takes out the nodes that write tensors of `instead`: who reads such a tensor reads the one that
/// it stands for. Where one is an output of the network, an Identity writes it.
void bypass(Network& network, const std::map<std::string, std::string, std::less<>>& instead);

}  // namespace d5
