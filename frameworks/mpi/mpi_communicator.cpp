// SPDX-License-Identifier: Apache-2.0
#include "mpi_communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/transport.hpp"
#include "mpi_reduction.hpp"
#include "mpi_runtime.hpp"

namespace d5::mpi {
namespace {

/// MPI counts in int; longer tensors are sent in pieces of this many elements, if possible.
constexpr std::int64_t kLargestPiece = std::int64_t{1} << 30;

std::int64_t bytes_of(const Tensor& tensor) { return static_cast<std::int64_t>(tensor.bytes()); }
void* byte(const Tensor& data, std::int64_t i) {
  return static_cast<char*>(const_cast<void*>(data.raw())) + i;
}

class MpiCommunicator;

/// Parts of a call that differ in size by rank, in MPI's form; kept until the call is done.
struct MpiParts {
  std::vector<int> counts, begins;
};

class MpiRequest final : public Request {
 public:
  MpiRequest(const MpiCommunicator& owner, const CommunicationCall& call)
      : owner_(owner), call_(call) {}
  ~MpiRequest() override {
    if (std::uncaught_exceptions() > exceptions_ || !running()) return;
    for (MPI_Request& piece : pieces_) MPI_Wait(&piece, MPI_STATUS_IGNORE);
  }
  void wait() override;
  bool done() override;

  MPI_Request* add_piece(std::int64_t bytes = 0) {
    piece_bytes_.push_back(bytes);
    return &pieces_.emplace_back(MPI_REQUEST_NULL);
  }
  MpiParts input_parts, output_parts;

 private:
  void check(int code, MPI_Status& status);

  const MpiCommunicator& owner_;
  CommunicationCall call_;  // and with it the tensors
  int exceptions_ = std::uncaught_exceptions();
  std::size_t complete_ = 0;  // pieces
  std::vector<MPI_Request> pieces_;
  std::vector<std::int64_t> piece_bytes_;
};

class MpiCommunicator final : public Communicator {
 public:
  /// Takes over `comm`.
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  // The communicator is freed with MPI at the exit of the process, because freeing is a collective,
  // and ranks release theirs at different times.

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string medium() const override { return library(); }
  void abort(const std::string& reason) override { end_job(reason); }

  /// MPI may have been finalised by the program that started it.
  void expect_running(const CommunicationCall& call) const {
    if (running()) return;
    throw CommunicationError(
        fmt::format("rank {}: {}: MPI was finalised before; d5's communicators end with it", rank_,
                    to_string(call)));
  }

  void check(int code, std::string_view call) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationError(fmt::format("rank {}: {} failed: {}", rank_, call,
                                         std::string_view(text, static_cast<std::size_t>(length))));
  }

 protected:
  void do_run(const CommunicationCall& call) override {
    expect_running(call);
    switch (call.kind) {  // the library's blocking ones are the faster ones
      case CallKind::all_reduce: {
        const auto [type, op] = mpi_reduction(call.output.dtype(), call.reduction);
        return in_pieces(call.output.elements(), [&](std::int64_t begin, int count) {
          check(MPI_Allreduce(MPI_IN_PLACE, element(call.output, begin), count, type, op, comm_),
                "all_reduce");
        });
      }
      case CallKind::broadcast:
        return in_pieces(bytes_of(call.output), [&](std::int64_t begin, int count) {
          check(MPI_Bcast(byte(call.output, begin), count, MPI_BYTE, call.peer, comm_),
                "broadcast");
        });
      case CallKind::all_gather: {
        if (!call.output_counts.empty()) break;
        const int count = int_count(bytes_of(call.input), call);
        return check(MPI_Allgather(call.input.raw(), count, MPI_BYTE, byte(call.output, 0), count,
                                   MPI_BYTE, comm_),
                     "all_gather");
      }
      case CallKind::reduce_scatter: {
        if (!call.input_counts.empty()) break;
        const auto [type, op] = mpi_reduction(call.input.dtype(), call.reduction);
        const int count = int_count(call.output.elements(), call);
        return check(MPI_Reduce_scatter_block(call.input.raw(), byte(call.output, 0), count, type,
                                              op, comm_),
                     "reduce_scatter");
      }
      case CallKind::barrier:
        return check(MPI_Barrier(comm_), "barrier");
      default:
        break;
    }
    do_start(call)->wait();
  }

  std::unique_ptr<Request> do_start(const CommunicationCall& call) override {
    expect_running(call);
    auto request = std::make_unique<MpiRequest>(*this, call);
    check(start(call, *request), name_of(call.kind));
    return request;
  }

  std::shared_ptr<Communicator> do_split(int color, int order) override {
    expect_running({.kind = CallKind::split});
    MPI_Comm group = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, color < 0 ? MPI_UNDEFINED : color, order, &group), "split");
    return group == MPI_COMM_NULL ? nullptr : std::make_shared<MpiCommunicator>(group);
  }

  std::shared_ptr<Communicator> do_group(const std::vector<int>& ranks) override {
    expect_running({.kind = CallKind::split});
    MPI_Group all = MPI_GROUP_NULL, chosen = MPI_GROUP_NULL;
    MPI_Comm group = MPI_COMM_NULL;
    check(MPI_Comm_group(comm_, &all), "group");
    check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &chosen), "group");
    const int code = MPI_Comm_create_group(comm_, chosen, 0, &group);
    MPI_Group_free(&chosen);
    MPI_Group_free(&all);
    check(code, "group");
    return std::make_shared<MpiCommunicator>(group);
  }

 private:
  int start(const CommunicationCall& call, MpiRequest& request) const {
    const void* in = call.input.defined() ? call.input.raw() : nullptr;
    void* out = call.output.defined() ? byte(call.output, 0) : nullptr;
    const bool at_root = call.peer == rank_;
    switch (call.kind) {
      case CallKind::all_reduce: {
        const auto [type, op] = mpi_reduction(call.output.dtype(), call.reduction);
        return in_started_pieces(call.output.elements(), [&](std::int64_t begin, int count) {
          return MPI_Iallreduce(MPI_IN_PLACE, element(call.output, begin), count, type, op, comm_,
                                request.add_piece());
        });
      }
      case CallKind::broadcast:
        return in_started_pieces(bytes_of(call.output), [&](std::int64_t begin, int count) {
          return MPI_Ibcast(byte(call.output, begin), count, MPI_BYTE, call.peer, comm_,
                            request.add_piece());
        });
      case CallKind::all_gather:
        set_parts(request.output_parts, call.output_counts, call.output, call);
        return MPI_Iallgatherv(in, int_count(bytes_of(call.input), call), MPI_BYTE, out,
                               request.output_parts.counts.data(),
                               request.output_parts.begins.data(), MPI_BYTE, comm_,
                               request.add_piece());
      case CallKind::reduce_scatter: {
        const auto [type, op] = mpi_reduction(call.input.dtype(), call.reduction);
        const RankParts parts(call.input_counts, call.input.elements(), size_);
        for (const std::int64_t count : parts.counts) {
          request.input_parts.counts.push_back(int_count(count, call));
        }
        return MPI_Ireduce_scatter(in, out, request.input_parts.counts.data(), type, op, comm_,
                                   request.add_piece());
      }
      case CallKind::gather:
        if (at_root) set_parts(request.output_parts, call.output_counts, call.output, call);
        return MPI_Igatherv(in, int_count(bytes_of(call.input), call), MPI_BYTE, out,
                            request.output_parts.counts.data(), request.output_parts.begins.data(),
                            MPI_BYTE, call.peer, comm_, request.add_piece());
      case CallKind::scatter:
        if (at_root) set_parts(request.input_parts, call.input_counts, call.input, call);
        return MPI_Iscatterv(in, request.input_parts.counts.data(),
                             request.input_parts.begins.data(), MPI_BYTE, out,
                             int_count(bytes_of(call.output), call), MPI_BYTE, call.peer, comm_,
                             request.add_piece());
      case CallKind::all_to_all:
        set_parts(request.input_parts, call.input_counts, call.input, call);
        set_parts(request.output_parts, call.output_counts, call.output, call);
        return MPI_Ialltoallv(
            in, request.input_parts.counts.data(), request.input_parts.begins.data(), MPI_BYTE, out,
            request.output_parts.counts.data(), request.output_parts.begins.data(), MPI_BYTE, comm_,
            request.add_piece());
      case CallKind::send:
        return in_started_pieces(bytes_of(call.input), [&](std::int64_t begin, int count) {
          return MPI_Isend(byte(call.input, begin), count, MPI_BYTE, call.peer, call.tag, comm_,
                           request.add_piece(count));
        });
      case CallKind::receive: {
        // Messages of several senders, or of unknown length, cannot be split into pieces.
        if (call.received || call.peer == kAnyRank) (void)int_count(bytes_of(call.output), call);
        const int from = call.peer == kAnyRank ? MPI_ANY_SOURCE : call.peer;
        return in_started_pieces(bytes_of(call.output), [&](std::int64_t begin, int count) {
          return MPI_Irecv(byte(call.output, begin), count, MPI_BYTE, from, call.tag, comm_,
                           request.add_piece(count));
        });
      }
      case CallKind::barrier:
        return MPI_Ibarrier(comm_, request.add_piece());
      case CallKind::split:
      case CallKind::schedule:
        break;
    }
    return MPI_ERR_OTHER;
  }

  static void* element(const Tensor& data, std::int64_t i) {
    return byte(data, i * static_cast<std::int64_t>(size_of(data.dtype())));
  }

  /// At least one piece, so that an empty tensor takes part as well.
  template <class F>
  static void in_pieces(std::int64_t count, const F& piece) {
    std::int64_t begin = 0;
    do {
      piece(begin, static_cast<int>(std::min(count - begin, kLargestPiece)));
      begin += kLargestPiece;
    } while (begin < count);
  }
  template <class F>
  static int in_started_pieces(std::int64_t count, const F& start) {
    int code = MPI_SUCCESS;
    in_pieces(count, [&](std::int64_t begin, int size) {
      if (code == MPI_SUCCESS) code = start(begin, size);
    });
    return code;
  }

  int int_count(std::int64_t count, const CommunicationCall& call) const {
    if (count <= kLargestPiece) return static_cast<int>(count);
    throw Unsupported(
        fmt::format("rank {}: {}: {} of one rank exceed the {} that fit in one call; split it",
                    rank_, to_string(call), count, kLargestPiece));
  }

  void set_parts(MpiParts& parts, const RankCounts& counts, const Tensor& all,
                 const CommunicationCall& call) const {
    const RankParts of_ranks(counts, all.elements(), size_);
    const auto size = static_cast<std::int64_t>(size_of(all.dtype()));
    for (std::size_t rank = 0; rank < of_ranks.counts.size(); ++rank) {
      parts.counts.push_back(int_count(of_ranks.counts[rank] * size, call));
      parts.begins.push_back(int_count(of_ranks.begins[rank] * size, call));
    }
  }

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

// One by one: if one of several fails, such as for a truncated message, MPI_Waitall of Open MPI 4.1
// may never return.
void MpiRequest::wait() {
  owner_.expect_running(call_);
  for (; complete_ < pieces_.size(); ++complete_) {
    MPI_Status status;
    check(MPI_Wait(&pieces_[complete_], &status), status);
  }
}

bool MpiRequest::done() {
  owner_.expect_running(call_);
  for (; complete_ < pieces_.size(); ++complete_) {
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&pieces_[complete_], &done, &status);
    if (code == MPI_SUCCESS && done == 0) return false;
    check(code, status);
  }
  return true;
}

void MpiRequest::check(int code, MPI_Status& status) {
  owner_.check(code, to_string(call_));
  if (call_.kind != CallKind::receive) return;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  if (call_.received) {
    *call_.received = {status.MPI_SOURCE,
                       count / static_cast<std::int64_t>(size_of(call_.output.dtype()))};
  } else if (count != piece_bytes_[complete_]) {
    throw CommunicationError(fmt::format("rank {}: {}: {} bytes came from rank {}, expected {}",
                                         owner_.rank(), to_string(call_), count, status.MPI_SOURCE,
                                         piece_bytes_[complete_]));
  }
}

}  // namespace

std::shared_ptr<Communicator> make_communicator(MPI_Comm comm) {
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &own);
  return std::make_shared<MpiCommunicator>(own);
}

}  // namespace d5::mpi
