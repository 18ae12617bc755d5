// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/samples/distributed_sampler.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::shared_ptr<Sampler> distributed_sampler(std::shared_ptr<const Dataset> dataset,
                                             const SamplerEntry& order, const Settings& settings,
                                             int rank, int ranks) {
  if (ranks < 1) {
    throw ValueError(fmt::format("distributed_sampler: {} ranks; expected 1 or more", ranks));
  }
  Settings of_all = settings;
  of_all.set("batch_size", read_shared_options<SamplerOptions>(settings).batch_size * ranks);
  auto sampler = order.make(std::move(dataset), of_all);
  sampler->take_part(rank, ranks);
  return sampler;
}

}  // namespace d5
