// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

namespace d5 {

/// What one framework brings, level by level. Each level defines a part (`OperatorRegistry`,
/// `Registry<ExecutorEntry>`, ...) and asks for it; core knows none of them.
///
/// Thread safety: all of it; a part that was handed out stays for the framework's life. What may be
/// done with a part by several threads, the part says.
///
///     framework.part<OperatorRegistry>().add<TorchRelu>("Relu", {.since = 6});
class Framework {
 public:
  Framework(std::string name, std::string version)
      : name_(std::move(name)), version_(std::move(version)) {}
  Framework(const Framework&) = delete;
  Framework& operator=(const Framework&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& version() const { return version_; }

  /// The part of type P, made empty on the first request. P is constructed from the framework's
  /// name where it can be, and by default otherwise.
  template <class P>
  [[nodiscard]] P& part() {
    const std::lock_guard lock(mutex_);
    auto& slot = parts_[std::type_index(typeid(P))];
    if (!slot) {
      if constexpr (std::is_constructible_v<P, std::string>) {
        slot = std::make_shared<P>(name_);
      } else {
        slot = std::make_shared<P>();
      }
    }
    return *std::static_pointer_cast<P>(slot);
  }

 private:
  std::string name_;
  std::string version_;
  std::mutex mutex_;
  std::map<std::type_index, std::shared_ptr<void>> parts_;
};

/// A framework that could be used, loaded or not.
struct FrameworkInfo {
  std::string name;
  std::string path;  ///< path of the plug-in; empty for a linked-in framework
  bool loaded = false;
  std::string reason;  ///< why it cannot be loaded, if that was tried
};

/// The framework called `name`, loaded from its plug-in on first use with its symbols kept local.
///
/// Plug-ins are `d5_framework_<name>.so`, searched in `plugin_path()`, or `name` is a path to one:
/// the same framework by both. "reference" is d5's own, linked in with level 0.
/// Throws: NotFound (with what there is), IoError for a path where nothing is, Unsupported (ABI
/// stamp differs, a library is missing), ValueError for another plug-in of a name that is taken.
/// Thread safety: this and the functions below may be called by several threads at once.
[[nodiscard]] Framework& framework(std::string_view name);

/// Loads nothing, and lets paths pass. Throws: NotFound for a name that no framework has, with the
/// nearest one.
void expect_known_framework(std::string_view name);

/// What is known without loading anything.
[[nodiscard]] std::vector<FrameworkInfo> frameworks();

/// D5_PLUGIN_PATH, then the folder beside d5's library.
[[nodiscard]] std::vector<std::string> plugin_path();

/// Adds a framework that is linked in, not loaded. `fill` runs on first use.
/// Throws: ValueError if the name is taken.
void add_framework(std::string name, std::string version, std::function<void(Framework&)> fill);

namespace detail {
/// Adds d5's own frameworks by `add_framework`: level 0 defines it, and core calls it once, before
/// the first framework is looked up. Weak, so that core links alone: a program that uses the
/// operators of a framework links level 0, which has the definition.
[[gnu::weak]] void add_linked_frameworks();
}  // namespace detail

}  // namespace d5
