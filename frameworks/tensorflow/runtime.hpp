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

/// Configuration of a context or a session, a serialized `ConfigProto`: `threads` within an
/// operation; operations one after another on the calling thread; no spinning threads; and no
/// rewriting of the graph by Grappler or XLA.
[[nodiscard]] std::string config_of(int threads);

/// Makes new runtimes use d5's number of threads. Called once, when the plug-in is loaded.
void follow_threads();

}  // namespace d5::tensorflow
