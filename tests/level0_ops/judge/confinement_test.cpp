// SPDX-License-Identifier: Apache-2.0
// What confines the process of a source, each wall alone.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "core/files/owned_descriptor.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "level0_ops/judge/limited_group.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using namespace d5::testing;
using detail::make_pipe;

namespace {

/// The exit status of a copy of this process that runs `body`.
int status_of(const std::function<int()>& body) {
  const pid_t copy = ::fork();
  if (copy == 0) ::_exit(body());
  int status = 0;
  REQUIRE(::waitpid(copy, &status, 0) == copy);
  return WEXITSTATUS(status);
}

/// A function of the library that confines other languages.
void* confinement(const char* name) {
  for (const auto& folder : plugin_path()) {
    const std::string file = folder + "/d5_judged_confinement.so";
    void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library) return ::dlsym(library, name);
  }
  FAIL("there is no d5_judged_confinement.so");
  return nullptr;
}

int error_of(int result) { return result < 0 ? errno : 0; }

int error_of_connecting() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(1);  // nobody listens there
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return error_of(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address));
}

}  // namespace

TEST_CASE("Landlock alone denies files, connections and signals") {
  const auto seal = reinterpret_cast<int (*)()>(confinement("d5_seal_files"));
  const int version = status_of(seal);
  if (version == 0) {
    WARN("skipped: this kernel has no Landlock");
    return;
  }
  const TemporaryFolder folder;
  const std::string file = folder / "file";
  write_file(file, "text");
  const int open = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto sealed = [&](const std::function<int()>& body) {
    return status_of([&] {
      (void)seal();
      return body();
    });
  };
  CHECK(status_of([&] { return error_of(::open(file.c_str(), O_RDONLY)); }) == 0);
  CHECK(sealed([&] { return error_of(::open(file.c_str(), O_RDONLY)); }) == EACCES);
  CHECK(sealed([&] { return error_of(::open((file + "2").c_str(), O_WRONLY | O_CREAT, 0600)); }) ==
        EACCES);
  CHECK(sealed([&] { return error_of(::unlink(file.c_str())); }) == EACCES);
  CHECK(sealed([&] { return error_of(::execl("/bin/true", "true", nullptr)); }) == EACCES);
  char byte = 0;
  CHECK(sealed([&] { return ::read(open, &byte, 1) == 1 ? 0 : 1; }) == 0);  // opened before
  CHECK(sealed([] { return error_of(::kill(::getpid(), 0)); }) == 0);
  constexpr int kNetworkSince = 4, kScopesSince = 6;
  if (version >= kNetworkSince) {
    CHECK(status_of(error_of_connecting) == ECONNREFUSED);
    CHECK(sealed(error_of_connecting) == EACCES);
  }
  if (version >= kScopesSince)
    CHECK(sealed([] { return error_of(::kill(::getppid(), 0)); }) == EPERM);
  ::close(open);
}

TEST_CASE("the filter holds for threads that were there before") {
  const auto confine = reinterpret_cast<int (*)(int)>(confinement("d5_confine"));
  const int error = status_of([&] {
    std::atomic<bool> confined = false;
    std::atomic<int> error = 0;
    std::thread before([&] {
      while (!confined) std::this_thread::yield();
      error = error_of(::socket(AF_INET, SOCK_STREAM, 0));
    });
    const int listener = confine(2);
    ::close(listener);  // nobody decides: what waits for a decision fails
    confined = true;
    before.join();
    return listener < 0 ? -1 : error.load();
  });
  CHECK(error == ENOSYS);
}

TEST_CASE("a control group limits tasks, or says why not") {
  const TemporaryFolder folder;
  write_file(folder / "groups", "1:name=systemd:/\nno group\n0::/absent\n");
  const detail::LimitedGroup absent(::getpid(), {.bytes = 1 << 30, .tasks = 99}, folder / "groups",
                                    folder.path());
  CHECK(absent.words() == "none: this process may make no group that limits memory or tasks");

  auto [reading, writing] = make_pipe();
  const pid_t copy = ::fork();
  if (copy == 0) {
    char byte = 0;
    while (::read(reading.get(), &byte, 1) != 1) ::usleep(1000);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    ::_exit(error_of(child));
  }
  std::string words;
  {
    const detail::LimitedGroup group(copy, {.bytes = 1 << 30, .tasks = 1});
    words = group.words();
    REQUIRE(::write(writing.get(), "x", 1) == 1);
    int status = 0;
    REQUIRE(::waitpid(copy, &status, 0) == copy);
    const bool is_limited = words.find("tasks") != std::string::npos;
    CHECK(WEXITSTATUS(status) == (is_limited ? EAGAIN : 0));
  }
  if (words.starts_with("none")) WARN("not tested further: " << words);
}
