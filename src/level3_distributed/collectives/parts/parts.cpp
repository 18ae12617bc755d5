// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5 {

Parts::Parts(std::int64_t elements, int parts) : size_(parts), elements_(elements) {}

Parts::Parts(const RankCounts& counts) : size_(int(counts.size())), elements_(0), offsets_{0} {
  for (const std::int64_t count : counts) offsets_.push_back(elements_ += count);
}

ElementRange Parts::operator[](int part) const {
  const int p = ((part % size()) + size()) % size();
  return between(p, p + 1);
}

ElementRange Parts::between(int begin, int end) const {
  return {this->begin(begin), this->begin(end)};
}

Parts Parts::rotated(int first) const {
  RankCounts counts;
  for (int p = 0; p < size(); ++p) counts.push_back((*this)[first + p].size());
  return Parts(counts);
}

}  // namespace d5
