// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::python {

/// Whether a hook may use an object that its caller uses: an executor; no sampler, whose reader
/// would lose its place.
enum class FromHooks { allowed, refused };

/// Reserves `object` for this thread while it lives. Calls release the GIL, so Python's threads
/// meet inside d5, where executors, samplers and trainers are for one thread at a time. Ends the
/// leases of what the object lent to Python before (`lease_until_next_use`). Construct with the
/// GIL.
///
/// Throws: ValueError if another thread uses it, or a caller that refuses hooks; `name` begins the
/// message.
class Use {
 public:
  Use(const void* object, const std::string& name, FromHooks from_hooks = FromHooks::allowed);
  ~Use();
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  const void* object_;
};

/// Whether a call in any thread uses it.
[[nodiscard]] bool is_in_use(const void* object);

}  // namespace d5::python
