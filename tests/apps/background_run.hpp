// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "tests/apps/program_run.hpp"

namespace d5::testing {

/// A run of the built program that goes on in the background, its rows in the file `printed`.
class BackgroundRun {
 public:
  /// `launcher` stands before it.
  BackgroundRun(const std::string& arguments, const std::string& printed,
                const std::string& launcher = "") {
    const std::string command =
        "exec " + launcher + " " + D5_PROGRAM + " " + arguments + " >" + printed;
    child_ = fork();
    if (child_ == 0) {
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
  }
  [[nodiscard]] pid_t process() const { return child_; }
  /// Waits until `there`, sends the signal, and returns how the run ended.
  int end(int signal, const std::function<bool()>& there) const {
    using namespace std::chrono_literals;
    for (int i = 0; i < 6000 && !there(); ++i) std::this_thread::sleep_for(10ms);
    CHECK(there());
    kill(child_, signal);
    int status = -1;
    waitpid(child_, &status, 0);
    return status;
  }

 private:
  pid_t child_;
};

}  // namespace d5::testing
