// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/gather_texts.hpp"

#include <algorithm>

namespace d5::detail {

std::vector<std::string> gather_texts(Communicator& ranks, const std::string& mine) {
  // Texts differ in length: agree on the longest, then gather them padded with zero bytes.
  Tensor longest = Tensor::scalar<std::int64_t>(static_cast<std::int64_t>(mine.size()) + 1);
  ranks.all_reduce(longest, Reduction::maximum);
  const std::int64_t length = longest.item<std::int64_t>();
  Tensor padded = Tensor::zeros(DType::uint8, {length});
  std::copy(mine.begin(), mine.end(), padded.data<std::uint8_t>());
  Tensor all = Tensor::empty(DType::uint8, {ranks.size(), length});
  ranks.all_gather(padded, all);
  std::vector<std::string> texts;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    texts.emplace_back(reinterpret_cast<const char*>(all.data<std::uint8_t>() + rank * length));
  }
  return texts;
}

}  // namespace d5::detail
