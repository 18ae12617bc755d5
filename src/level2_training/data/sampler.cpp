// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/sampler.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

void SamplerOptions::declare(OptionList& options) {
  options.add("batch_size", batch_size, "samples per batch", {.least = 1});
  options.add("tail", tail, "keep or drop a shorter last batch", {"keep", "drop"});
  options.add("seed", seed, "seed of a random order");
  options.add("pad", pad, "padding value behind samples smaller than the batch's largest");
}

void Sampler::take_part(int, int) {
  throw Unsupported(
      fmt::format("this sampler of '{}' cannot be cut into the parts of several ranks; derive it "
                  "from IndexSampler, or choose another",
                  printable(dataset().name())));
}

void Sampler::take_batches(int rank, int ranks) {
  if (rank != 0 || ranks != 1) Sampler::take_part(rank, ranks);
}

void Sampler::read_ahead(int threads) {
  if (threads == 0) return;
  throw Unsupported(
      fmt::format("this sampler of '{}' reads in its own way; give the threads to that, or derive "
                  "it from IndexSampler",
                  printable(dataset().name())));
}

}  // namespace d5
