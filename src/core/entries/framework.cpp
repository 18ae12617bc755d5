// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/framework.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <utility>

#include "core/entries/loaded_plugins.hpp"
#include "d5/core/entries/plugin.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/thread_pool/waiting.hpp"

namespace d5 {
namespace {

struct Linked {
  std::string version;
  std::function<void(Framework&)> fill;
};

struct State {
  std::recursive_mutex mutex;
  bool asked_for_linked = false;
  std::map<std::string, Linked, std::less<>> linked;
  std::map<std::string, std::unique_ptr<Framework>, std::less<>> loaded;  // by their own names
  std::map<std::string, Framework*> by_file;                              // loaded plug-ins
  std::map<std::string, std::string, std::less<>> failed;                 // name to reason
};
State& state() {
  static State s;
  return s;
}

/// With the state's lock held.
void add_what_is_linked() {
  if (std::exchange(state().asked_for_linked, true)) return;
  if (detail::add_linked_frameworks) detail::add_linked_frameworks();
}

constexpr std::string_view kPrefix = "d5_framework_", kPlugin = ".so", kLeftOut = ".left_out",
                           kNeeds = ".needs";

/// Files on the path that end on `suffix`, by framework name; the first folder wins.
std::map<std::string, std::string> files_of_frameworks(std::string_view suffix) {
  std::map<std::string, std::string> result;
  for (const auto& folder : plugin_path()) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (file.starts_with(kPrefix) && file.ends_with(suffix)) {
        result.try_emplace(
            file.substr(kPrefix.size(), file.size() - kPrefix.size() - suffix.size()),
            entry.path().string());
      }
    }
  }
  return result;
}
std::map<std::string, std::string> plugins() { return files_of_frameworks(kPlugin); }

/// What the build wrote beside the plug-ins, fit to be printed; empty where there is none.
std::string line_of(const std::string& file) {
  std::string line;
  std::getline(std::ifstream(file), line);
  return printable_message(line);
}

/// Frameworks that the build left out, and why.
std::map<std::string, std::string> left_out() {
  std::map<std::string, std::string> result = files_of_frameworks(kLeftOut);
  for (auto& [name, text] : result) {
    text = fmt::format("framework '{}' was left out of this build: {}; with that, build d5 again",
                       printable(name), line_of(text));
  }
  return result;
}

template <class F>
F symbol(void* library, const char* name, const std::string& path) {
  if (void* found = dlsym(library, name)) return reinterpret_cast<F>(found);
  throw Unsupported(
      fmt::format("'{}' is no d5 plug-in: it does not define {}; see D5_FRAMEWORK_PLUGIN",
                  printable(path), name));
}

/// One for all ways to write it.
std::string file_of(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::weakly_canonical(path, ignored).string();
}

/// With the state's lock held.
void expect_new(const std::string& name, const std::string& path) {
  if (!state().loaded.contains(name) && !state().linked.contains(name)) return;
  throw ValueError(fmt::format(
      "plug-in '{}': a framework '{}' is there already, from elsewhere; choose one of the two",
      printable(path), printable(name)));
}

std::unique_ptr<Framework> load(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    throw IoError(fmt::format("plug-in '{}' is not there; 'd5 env' tells those that are found",
                              printable(path)));
  }
  bound_waiting();
  // Local symbols: two frameworks that carry the same library do not meet.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    auto reason = fmt::format("plug-in '{}' cannot be loaded: {}", printable(path), dlerror());
    const auto needs = line_of(std::filesystem::path(path).replace_extension(kNeeds));
    if (!needs.empty()) {
      reason += fmt::format("; it needs {}, beside d5 or in a folder of LD_LIBRARY_PATH", needs);
    }
    throw Unsupported(reason);
  }
  const auto* stamp = symbol<const PluginStamp* (*)()>(library, "d5_plugin_stamp", path)();
  const auto differs = [&](std::string_view what, const auto& plugin, const auto& own) {
    throw Unsupported(fmt::format("plug-in '{}' was built with {} {}, d5 with {}; build it again",
                                  printable(path), what, plugin, own));
  };
  if (std::strcmp(stamp->d5_version, D5_VERSION_STAMP) != 0) {
    differs("d5", printable(stamp->d5_version), D5_VERSION_STAMP);
  }
  if (std::strcmp(stamp->compiler, D5_COMPILER_STAMP) != 0) {
    differs("compiler", stamp->compiler, D5_COMPILER_STAMP);
  }
  if (stamp->cxx11_abi != _GLIBCXX_USE_CXX11_ABI) {
    differs("C++11 ABI", stamp->cxx11_abi, _GLIBCXX_USE_CXX11_ABI);
  }
  const std::string name = symbol<const char* (*)()>(library, "d5_framework_name", path)();
  expect_new(name, path);
  auto framework = std::make_unique<Framework>(
      name, symbol<const char* (*)()>(library, "d5_framework_version", path)());
  const auto fill = symbol<void (*)(Framework&)>(library, "d5_framework_fill", path);
  try {
    fill(*framework);
  } catch (const std::exception& error) {
    throw Unsupported(fmt::format("plug-in '{}' failed while it registered its parts: {}",
                                  printable(path), error.what()));
  } catch (...) {
    throw Unsupported(fmt::format(
        "plug-in '{}' failed while it registered its parts: it threw an exception of unknown type",
        printable(path)));
  }
  return framework;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const auto& info : frameworks()) names.push_back(info.name);
  return names;
}

}  // namespace

void add_framework(std::string name, std::string version, std::function<void(Framework&)> fill) {
  const std::lock_guard lock(state().mutex);
  add_what_is_linked();
  if (state().loaded.contains(name) || plugins().contains(name)) {
    throw_duplicate_name("framework", name);
  }
  if (!state().linked.try_emplace(name, Linked{std::move(version), std::move(fill)}).second) {
    throw_duplicate_name("framework", name);
  }
}

Framework& framework(std::string_view name) {
  const std::lock_guard lock(state().mutex);
  add_what_is_linked();
  if (const auto place = state().loaded.find(name); place != state().loaded.end()) {
    return *place->second;
  }
  const auto keep = [&](std::unique_ptr<Framework> made) -> Framework& {
    const std::string own = made->name();
    return *(state().loaded[own] = std::move(made));
  };
  if (const auto place = state().linked.find(name); place != state().linked.end()) {
    auto made = std::make_unique<Framework>(place->first, place->second.version);
    place->second.fill(*made);
    return keep(std::move(made));
  }
  std::string path(name);
  if (name.find('/') == std::string_view::npos) {
    const auto found = plugins();
    const auto place = found.find(path);
    if (place == found.end()) {
      const auto absent = left_out();
      if (const auto reason = absent.find(path); reason != absent.end()) {
        throw Unsupported(reason->second);
      }
      throw_unknown_name("framework", name, known_names());
    }
    path = place->second;
  }
  const std::string file = file_of(path);
  if (const auto place = state().by_file.find(file); place != state().by_file.end()) {
    return *place->second;
  }
  try {
    Framework& made = keep(load(path));
    state().by_file[file] = &made;
    return made;
  } catch (const Error& error) {
    state().failed[std::string(name)] = error.what();
    throw;
  }
}

void expect_known_framework(std::string_view name) {
  const auto names = known_names();
  const bool is_path = name.find('/') != std::string_view::npos;
  if (is_path || std::ranges::find(names, name) != names.end()) return;
  throw_unknown_name("framework", name, names);
}

std::vector<FrameworkInfo> frameworks() {
  const std::lock_guard lock(state().mutex);
  add_what_is_linked();
  std::map<std::string, FrameworkInfo> found;
  for (const auto& [name, reason] : left_out()) found[name] = {name, "", false, reason};
  for (const auto& [name, path] : plugins()) found[name] = {name, path, false, ""};
  for (const auto& [name, entry] : state().linked) found[name] = {name, "", false, ""};
  for (const auto& [name, framework] : state().loaded) {
    found[name].name = name;
    found[name].loaded = true;
  }
  for (const auto& [file, framework] : state().by_file) found[framework->name()].path = file;
  for (const auto& [name, reason] : state().failed) {
    found[name].name = name;
    found[name].reason = reason;
  }
  std::vector<FrameworkInfo> result;
  for (auto& [name, info] : found) result.push_back(std::move(info));
  return result;
}

std::vector<const Framework*> detail::loaded_plugins() {
  const std::lock_guard lock(state().mutex);
  std::vector<const Framework*> result;
  for (const auto& [file, framework] : state().by_file) result.push_back(framework);
  return result;
}

std::vector<std::string> plugin_path() {
  std::vector<std::string> result;
  if (const char* variable = std::getenv("D5_PLUGIN_PATH")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const auto end = rest.find(':');
      if (end != 0) result.emplace_back(rest.substr(0, end));
      rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    }
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_path), &info) && info.dli_fname) {
    std::error_code ignored;
    const auto library = std::filesystem::canonical(info.dli_fname, ignored);
    result.push_back((library.parent_path() / "d5").string());
  }
  return result;
}

}  // namespace d5
