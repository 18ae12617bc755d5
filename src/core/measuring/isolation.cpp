// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/isolation.hpp"

#include "d5/core/measuring/isolated_worker.hpp"

namespace d5 {

std::vector<Measurement> isolated(const Isolation& isolation, const Measurement& record,
                                  const std::function<std::vector<Measurement>()>& work) {
  if (isolation.most_seconds <= 0) return work();
  WorkPiece piece;
  piece.record = record;
  piece.run = [&](const std::function<void()>&) { return work(); };
  return IsolatedWorker(isolation, {piece}).run(0);
}

}  // namespace d5
