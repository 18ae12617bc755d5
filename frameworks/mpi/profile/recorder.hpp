// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "groups.hpp"
#include "profile_row.hpp"

namespace d5::mpi {

/// Traffic of a call with a peer; ranks are those of its communicator. Bytes are counted as in
/// `Traffic`.
struct Moved {
  int peer = MPI_PROC_NULL;
  std::int64_t sent = 0, received = 0;
};

/// Traffic and times of this rank's calls. It calls only PMPI functions, so that it never records
/// itself.
///
/// Thread safety: all members.
class Recorder {
 public:
  /// Lives as long as the process, because MPI may be finalised very late.
  static Recorder& here();

  /// `call` is a literal, identified by its address.
  void add(const char* call, const Group& group, const Moved& moved, double seconds, int calls = 1);
  /// A non-blocking call: added when it is complete.
  void start(MPI_Request request, const char* call, const Group& group, const Moved& moved,
             double seconds);
  /// A persistent request, under the name of the call that made it; each start may give it another
  /// handle.
  void prepare(MPI_Request request, const char* call, const Group& group, const Moved& moved);
  void start_prepared(MPI_Request before, MPI_Request request, double seconds);
  /// The request is freed: it will be neither waited for nor started.
  void free(MPI_Request request);
  [[nodiscard]] bool knows(MPI_Request request);
  /// Records the time of a wait or a test for the request.
  void wait(MPI_Request request, double seconds);
  /// `status` is that of a receive, whose size is now known; null: the size stays unknown.
  void complete(MPI_Request request, const MPI_Status* status);
  /// A matched message, to be received later.
  void match(MPI_Message message, MPI_Comm comm);
  [[nodiscard]] MPI_Comm matched(MPI_Message message);
  [[nodiscard]] std::vector<ProfileRow> rows();

 private:
  struct Key {
    const char* call;
    const Group* group;
    int peer;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::hash<const void*> hash;
      return hash(key.call) * 31 + hash(key.group) * 17 + static_cast<std::size_t>(key.peer);
    }
  };
  struct Line {
    std::int64_t calls = 0, sent = 0, received = 0;
    double seconds = 0;
  };
  struct UnderWay {
    const char* call;
    const Group* group;
    Moved moved;  // negative bytes of a receive: its status gives them
    double seconds;
  };

  // The lock must be held.
  void add_started(MPI_Request request, const UnderWay& one);
  void add_line(const UnderWay& one, int calls = 1);

  std::mutex mutex_;
  std::unordered_map<MPI_Request, UnderWay> under_way_, prepared_;
  std::unordered_map<MPI_Message, MPI_Comm> matched_;
  std::unordered_map<Key, Line, Hash> lines_;
};

}  // namespace d5::mpi
