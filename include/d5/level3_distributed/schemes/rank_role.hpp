// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// What a rank is in a scheme.
struct RankRole {
  enum class Kind {
    worker,  ///< trains
    server   ///< keeps parameters for workers, until the last one has left
  };
  Kind kind = Kind::worker;
  /// A worker trains on part `share` of the `shares` of every global batch. Workers with the same
  /// one have a model together: stages of a pipeline.
  int share = 0, shares = 1;
  /// Into how many equal parts a worker cuts its part again: micro-batches of a pipeline.
  int pieces = 1;

  [[nodiscard]] bool works() const { return kind == Kind::worker; }
};

}  // namespace d5
