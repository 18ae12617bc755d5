// SPDX-License-Identifier: Apache-2.0
#include "use.hpp"

#include <map>
#include <mutex>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "lease.hpp"

namespace d5::python {
namespace {

struct User {
  std::thread::id thread;
  int uses = 0;  // with those of hooks
};

struct Users {
  std::mutex mutex;
  std::map<const void*, User> of;
};

Users& users() {
  static Users all;
  return all;
}

}  // namespace

Use::Use(const void* object, const std::string& name, FromHooks from_hooks) : object_(object) {
  {
    const std::lock_guard lock(users().mutex);
    User& user = users().of[object];
    if (user.uses > 0 && user.thread != std::this_thread::get_id()) {
      throw ValueError(name + " is at work in another thread; make one for each thread");
    }
    if (user.uses > 0 && from_hooks == FromHooks::refused) {
      throw ValueError(name +
                       " is at work in the call that runs this hook, which would lose its place; "
                       "make another one");
    }
    user.thread = std::this_thread::get_id();
    ++user.uses;
  }
  end_lease_of(object);
}

Use::~Use() {
  const std::lock_guard lock(users().mutex);
  const auto place = users().of.find(object_);
  if (--place->second.uses == 0) users().of.erase(place);
}

bool is_in_use(const void* object) {
  const std::lock_guard lock(users().mutex);
  return users().of.contains(object);
}

}  // namespace d5::python
