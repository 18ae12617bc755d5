// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace d5::mpi {

/// Properties of a communicator or a window.
struct Group {
  std::string name;
  int rank = 0, size = 1;
  bool joins_two_groups = false;  ///< an inter-communicator: peers are ranks of the other
  std::vector<int> world_ranks;   ///< its ranks in MPI_COMM_WORLD
  std::vector<int> to, from;      ///< neighbours, where it has a topology
};

/// Known communicators and windows of this process. Returned references stay valid after these are
/// freed.
///
/// Thread safety: all members.
class Groups {
 public:
  /// Lives as long as the process.
  static Groups& here();

  [[nodiscard]] const Group& of(MPI_Comm comm);
  [[nodiscard]] const Group& of_window(MPI_Win window);
  /// The handle may become another's.
  void forget(MPI_Comm comm);
  void forget_window(MPI_Win window);

 private:
  Group& add(const char* kind, const char* name);

  std::mutex mutex_;
  std::deque<Group> groups_;
  std::unordered_map<MPI_Comm, const Group*> by_comm_;
  std::unordered_map<MPI_Win, const Group*> by_window_;
};

}  // namespace d5::mpi
