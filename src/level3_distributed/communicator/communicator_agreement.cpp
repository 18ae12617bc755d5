// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"

namespace d5 {

void CommunicatorAgreement::do_sum(std::span<double> values) {
  const auto count = std::int64_t(values.size());
  Tensor all = Tensor::empty(DType::float64, {ranks() * count});
  group_->all_gather(Tensor::of<double>({count}, std::span<const double>(values)), all);
  for (std::int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int rank = 0; rank < ranks(); ++rank) sum += all.data<double>()[rank * count + i];
    values[std::size_t(i)] = sum;
  }
}

}  // namespace d5
