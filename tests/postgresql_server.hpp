// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.hpp"

namespace d5::testing {

/// A PostgreSQL server of a test's own: its files in a temporary folder, reached by a socket there
/// alone, gone with the object. It refuses to be root, for whom it becomes the user `postgres`.
class PostgresqlServer {
 public:
  /// The one of this process, or nothing with the reason in `absent`.
  static PostgresqlServer* shared() {
    static PostgresqlServer server;
    return server.absent.empty() ? &server : nullptr;
  }
  static const std::string& why_absent() {
    static PostgresqlServer* const server = shared();
    static const std::string reason = server ? "" : "no PostgreSQL server: " + last_reason();
    return reason;
  }

  PostgresqlServer() { begin(); }
  ~PostgresqlServer() {
    if (server_ <= 0) return;
    ::kill(server_, SIGQUIT);
    ::waitpid(server_, nullptr, 0);
  }
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  /// The address of a new, empty database.
  std::string fresh() {
    const std::string name = "test" + std::to_string(count_++);
    (void)wait_for(
        start({programs_ + "/createdb", "-h", folder_.path().string(), "-U", "d5", name}));
    return "postgresql://d5@/" + name + "?host=" + folder_.path().string();
  }

  std::string absent;  ///< why there is none; empty: there is

 private:
  void begin() {
    if (programs_.empty()) return fail("initdb is not installed (Debian: postgresql)");
    if (::geteuid() == 0) {
      const passwd* user = ::getpwnam("postgres");
      if (!user) return fail("it does not run as root, and there is no user postgres");
      user_ = user->pw_uid;
      group_ = user->pw_gid;
      if (::chown(folder_.path().c_str(), user_, group_) != 0) return fail("chown");
    }
    const std::string data = folder_ / "data";
    const int made =
        wait_for(start({programs_ + "/initdb", "--no-sync", "--auth=trust", "--username=d5",
                        "--encoding=UTF8", "--locale=C", "-D", data}));
    if (made != 0) return fail("initdb failed: " + end_of_log());
    server_ = start({programs_ + "/postgres", "-D", data, "-k", folder_.path().string(), "-c",
                     "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40"});
    for (int i = 0; i < 600; ++i) {
      if (wait_for(start({programs_ + "/pg_isready", "-q", "-h", folder_.path().string()})) == 0) {
        return;
      }
      if (::waitpid(server_, nullptr, WNOHANG) == server_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    server_ = 0;
    fail("it does not start: " + end_of_log());
  }
  static std::string& last_reason() {
    static std::string reason;
    return reason;
  }
  void fail(const std::string& reason) { absent = last_reason() = reason; }
  [[nodiscard]] std::string log() const { return folder_ / "log"; }
  [[nodiscard]] std::string end_of_log() const {
    std::ifstream file(log());
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    constexpr std::size_t kMost = 500;
    return all.substr(all.size() - std::min(all.size(), kMost));
  }

  static std::string find_programs() {
    std::string newest;
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none)) {
      const auto folder = version.path() / "bin";
      if (std::filesystem::exists(folder / "initdb", none)) newest = folder.string();
    }
    return newest;
  }
  [[nodiscard]] pid_t start(const std::vector<std::string>& command) const {
    const pid_t child = ::fork();
    if (child != 0) return child;
    if (user_ != 0 && (::setgid(group_) != 0 || ::setuid(user_) != 0)) ::_exit(98);
    ::prctl(PR_SET_PDEATHSIG, SIGQUIT);  // the server ends with the test, however that ends
    const int file = ::open(log().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    if (::chdir("/") != 0) ::_exit(97);
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    ::execv(words[0], words.data());
    ::_exit(96);
  }
  static int wait_for(pid_t child) {
    int status = -1;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  TemporaryFolder folder_;
  std::string programs_ = find_programs();
  uid_t user_ = 0;
  gid_t group_ = 0;
  pid_t server_ = 0;
  int count_ = 0;
};

}  // namespace d5::testing
