// SPDX-License-Identifier: Apache-2.0
#include "library.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "d5/core/errors/error.hpp"

namespace d5::tensorflow {
namespace {

constexpr int kMajor = 2, kOldestMinor = 16;

void expect_version(std::string_view version) {
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto dot = std::from_chars(version.data(), end, major).ptr;
  if (dot != end) std::from_chars(dot + 1, end, minor);
  if (major == kMajor && minor >= kOldestMinor) return;
  throw Unsupported("TensorFlow " + std::string(version) + " is too " +
                    (major > kMajor ? "new" : "old") + "; expected " + std::to_string(kMajor) +
                    "." + std::to_string(kOldestMinor) + " or a later " + std::to_string(kMajor) +
                    ".x: install one, and build d5 again");
}

/// Suppresses stderr while it lives.
class Silence {
 public:
  Silence() : stderr_(dup(STDERR_FILENO)) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  ~Silence() {
    if (stderr_ < 0) return;
    dup2(stderr_, STDERR_FILENO);
    close(stderr_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int stderr_;
};

}  // namespace

const char* load_library() {
  // If another library loaded it without RTLD_DEEPBIND, its calls reach another protobuf, and
  // crash.
  if (dlopen("libtensorflow_cc.so.2", RTLD_NOW | RTLD_NOLOAD)) {
    throw Unsupported(
        "TensorFlow's library is already loaded in this process; load d5's framework before the "
        "package tensorflow: import d5; d5.operators(\"tensorflow\"); import tensorflow");
  }
  // The library reads its environment while it is loaded.
  std::optional<Silence> silence;
  if (!std::getenv("TF_CPP_MIN_LOG_LEVEL")) {
    silence.emplace();                                     // a greeting printed at any level
    setenv("TF_CPP_MIN_LOG_LEVEL", "2", /*overwrite=*/0);  // errors alone
  }
  // Otherwise the first runtime's thread pool is used for the whole process.
  setenv("TF_OVERRIDE_GLOBAL_THREADPOOL", "1", /*overwrite=*/0);
  // Loaded by name, through the plug-in's run path. RTLD_DEEPBIND: its own protobuf comes first.
  void* const library = dlopen("libtensorflow_cc.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  silence.reset();
  if (!library) {
    throw Unsupported(std::string("TensorFlow's library cannot be loaded: ") + dlerror() +
                      " (pip install tensorflow-cpu, and build d5 again)");
  }
  const auto find = [&]<class F>(F*& function, const char* name) {
    function = reinterpret_cast<F*>(dlsym(library, name));
    if (!function) throw Unsupported(std::string("TensorFlow's library has no ") + name);
  };
  find(TF_Version, "TF_Version");
  expect_version(TF_Version());
#define D5_FIND(NAME) find(NAME, #NAME);
  D5_TENSORFLOW_FUNCTIONS(D5_FIND)
#undef D5_FIND
  find(TFE_NewTensorHandle, "TFE_NewTensorHandle");
  return TF_Version();
}

}  // namespace d5::tensorflow
