// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// The role of a rank in a scheme.
struct RankRole {
  enum class Kind {
    worker,  ///< trains
    server   ///< holds parameters for workers, until the last one has left
  };
  Kind kind = Kind::worker;
  /// A worker trains on part `share` of the `shares` parts of every global batch. Workers with the
  /// same share hold one model together, such as the stages of a pipeline.
  int share = 0, shares = 1;
  /// Number of equal pieces that a worker cuts its part into: micro-batches of a pipeline.
  int pieces = 1;

  [[nodiscard]] bool works() const { return kind == Kind::worker; }
};

}  // namespace d5
