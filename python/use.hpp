// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::python {

/// While it lives, other threads may not use `object`: calls release the GIL, so Python's threads
/// meet inside d5, where executors, samplers and trainers are for one thread at a time. What the
/// object lent to Python before is over (`lease_until_next_use`). Made with the GIL.
///
/// Throws: ValueError if another thread is at it; `name` begins the message.
class Use {
 public:
  Use(const void* object, const std::string& name);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  const void* object_;
};

/// Whether a call is at it, in any thread.
[[nodiscard]] bool is_in_use(const void* object);

}  // namespace d5::python
