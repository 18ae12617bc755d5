// SPDX-License-Identifier: Apache-2.0
#include "ort_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::onnxruntime {
namespace {

enum ErrorCode { kInvalidArgument = 2, kNotImplemented = 9 };

/// The library's only exported function.
struct Base {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*get_version)();
};

/// Path of the library that d5 was built with; or, in installed Python packages, beside d5's own:
/// this plug-in is in d5/lib/d5.
std::string find_library() {
  namespace fs = std::filesystem;
  if (fs::exists(D5_ONNXRUNTIME_LIBRARY)) return D5_ONNXRUNTIME_LIBRARY;
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&api), &here);
  const fs::path folder =
      fs::path(here.dli_fname ? here.dli_fname : "").parent_path() / "../../../onnxruntime/capi";
  std::error_code ignored;
  for (const auto& file : fs::directory_iterator(folder, ignored)) {
    if (file.path().filename().string().starts_with("libonnxruntime.so.")) return file.path();
  }
  const std::string_view built_with(D5_ONNXRUNTIME_LIBRARY);
  throw Unsupported(fmt::format("ONNX Runtime's library is not in {}{}{}; pip install onnxruntime",
                                folder.lexically_normal().string(),
                                built_with.empty() ? "" : ", nor is it ", built_with));
}

const Base& base() {
  static const Base* loaded = [] {
    const std::string path = find_library();
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Unsupported(fmt::format("ONNX Runtime cannot be loaded: {}", dlerror()));
    const auto entry = reinterpret_cast<const Base* (*)()>(dlsym(library, "OrtGetApiBase"));
    if (!entry)
      throw Unsupported(fmt::format("{} is not ONNX Runtime: it has no OrtGetApiBase", path));
    return entry();
  }();
  return *loaded;
}

/// The message without the leading source file and function: "/onnxruntime_src/x.cc:52 void f(int)
/// const what is wrong".
std::string without_place(std::string message) {
  const auto place = message.find("/onnxruntime_src/");
  if (place == std::string::npos) return message;
  auto end = message.find('(', place);
  for (int depth = 0; end < message.size(); ++end) {
    depth += message[end] == '(' ? 1 : message[end] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  if (end >= message.size()) return message;
  message.erase(place, end + 1 - place);
  for (const std::string_view left : {" const", " "}) {
    if (std::string_view(message).substr(place).starts_with(left)) {
      message.erase(place, left.size());
    }
  }
  return message;
}

}  // namespace

const char* version() { return base().get_version(); }

const void* const* api() {
  static const void* const* table = [] {
    const std::string found = version();
    const void* const* asked = base().get_api(kApiVersion);
    if (!asked || !found.starts_with("1.")) {
      throw Unsupported(
          fmt::format("ONNX Runtime is {}, expected 1.{} or a later 1.x", found, kApiVersion));
    }
    return asked;
  }();
  return table;
}

void check(Status* status) {
  if (!status) return;
  const int code = kGetErrorCode(static_cast<const Status*>(status));
  const std::string message = without_place(kGetErrorMessage(static_cast<const Status*>(status)));
  kReleaseStatus(status);
  if (code == kNotImplemented) throw Unsupported("ONNX Runtime: " + message);
  if (code == kInvalidArgument) throw ValueError("ONNX Runtime: " + message);
  throw Error("ONNX Runtime: " + message);
}

}  // namespace d5::onnxruntime
