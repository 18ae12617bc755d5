// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "status.hpp"

namespace d5::tensorflow {

/// TensorFlow's eager runtime. It has d5's number of threads at its creation: another number needs
/// another runtime, and objects of the old one are prepared again.
///
/// Thread safety: all members.
class Runtime {
 public:
  /// Throws: Unsupported if TensorFlow cannot start.
  [[nodiscard]] static std::shared_ptr<Runtime> current();
  /// Whether d5's number of threads is unchanged since its creation.
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
