// SPDX-License-Identifier: Apache-2.0
#include "serving/agent/child_process.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// While it lives, this process may open so many files more.
class FewFiles {
 public:
  explicit FewFiles(std::size_t left) {
    constexpr rlim_t kMost = 256;
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{kMost, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int one; (one = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(one);
    for (; left > 0 && !taken_.empty(); --left) release();
  }
  ~FewFiles() {
    while (!taken_.empty()) release();
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  FewFiles(const FewFiles&) = delete;
  FewFiles& operator=(const FewFiles&) = delete;

 private:
  void release() {
    ::close(taken_.back());
    taken_.pop_back();
  }
  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

TEST_CASE("a child is refused whose end could not be heard of, and takes no file with it") {
  constexpr std::size_t kPipes = 4;
  const std::vector<std::string> command = {"/bin/sleep", "1000"};
  const FewFiles few(kPipes);
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_WITH(detail::ChildProcess(command, {}), Catch::Contains("Too many open files"));
  }
}
