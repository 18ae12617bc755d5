// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "status.hpp"

namespace d5::tensorflow {

/// TensorFlow's eager runtime. Its threads are those of d5 when it was made: another number makes
/// another runtime, and what was prepared for the old one is prepared again.
///
/// Thread safety: all of it.
class Runtime {
 public:
  /// Throws: Unsupported where TensorFlow cannot start.
  [[nodiscard]] static std::shared_ptr<Runtime> current();
  /// Whether d5's number of threads is still the one that it was made with.
  [[nodiscard]] bool is_current() const;
  [[nodiscard]] TFE_Context* get() const { return context_.get(); }

  explicit Runtime(int threads);

 private:
  int threads_;
  std::unique_ptr<TFE_Context, Deleter<TFE_DeleteContext>> context_;
};

/// What a context or a session is told: `threads` within an operation, operations one after another
/// on the caller's own thread, threads that wait without spinning, and a graph that runs as it is:
/// neither rewritten by Grappler nor compiled by XLA. A serialized `ConfigProto`.
[[nodiscard]] std::string config_of(int threads);

/// From now on new runtimes have d5's number of threads. Once, when the plug-in is loaded.
void follow_threads();

}  // namespace d5::tensorflow
