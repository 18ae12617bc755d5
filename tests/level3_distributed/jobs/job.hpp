// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

/// The result of a command.
struct Job {
  int status = -1;
  std::string output;  // stdout and stderr
  double seconds = 0;
};

/// Runs a shell command; the status is 124 (of `timeout`) if it hangs.
inline Job run_line(const std::string& line) {
  const auto begin = std::chrono::steady_clock::now();
  Job job;
  std::FILE* pipe = popen((line + " 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("no pipe to " + line);
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe)) job.output += buffer.data();
  job.status = WEXITSTATUS(pclose(pipe));
  job.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return job;
}

/// Runs a program with its arguments on some ranks; `before` is the environment, "NAME=value ".
inline Job run_ranks(int ranks, const std::string& program, const std::string& before = "") {
  return run_line(before + "timeout 30 " D5_MPIEXEC " --oversubscribe -np " +
                  std::to_string(ranks) + " " + program);
}
