// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communicator/transport/mpi_communicator.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <exception>
#include <vector>

#include "d5/core/error.hpp"
#include "level3_distributed/communicator/transport/mpi_runtime.hpp"

namespace d5::detail {
namespace {

/// MPI counts in int; longer tensors go in pieces of this many elements.
constexpr std::int64_t kLargestPiece = std::int64_t{1} << 30;

MPI_Op mpi_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::sum:
      return MPI_SUM;
    case Reduction::maximum:
      return MPI_MAX;
    case Reduction::minimum:
      return MPI_MIN;
  }
  return MPI_OP_NULL;
}

/// The type that MPI can compute with.
MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return MPI_FLOAT;
    case DType::float64:
      return MPI_DOUBLE;
    case DType::int8:
      return MPI_INT8_T;
    case DType::int16:
      return MPI_INT16_T;
    case DType::int32:
      return MPI_INT32_T;
    case DType::int64:
      return MPI_INT64_T;
    case DType::uint8:
      return MPI_UINT8_T;
    case DType::uint16:
      return MPI_UINT16_T;
    case DType::uint32:
      return MPI_UINT32_T;
    case DType::uint64:
      return MPI_UINT64_T;
    default:
      throw Unsupported(
          fmt::format("MPI cannot reduce {}; cast to float32, or choose an all-reduce of d5's own",
                      name_of(dtype)));
  }
}

class MpiCommunicator;

class MpiRequest final : public Request {
 public:
  MpiRequest(const MpiCommunicator& owner, const char* call) : owner_(owner), call_(call) {}
  ~MpiRequest() override {
    if (std::uncaught_exceptions() == exceptions_) {
      MPI_Waitall(static_cast<int>(pieces_.size()), pieces_.data(), MPI_STATUSES_IGNORE);
    }
  }
  void wait() override;
  bool done() override;
  MPI_Request* add_piece() { return &pieces_.emplace_back(MPI_REQUEST_NULL); }

 private:
  const MpiCommunicator& owner_;
  const char* call_;
  int exceptions_ = std::uncaught_exceptions();
  std::vector<MPI_Request> pieces_;
};

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void abort(const std::string& reason) override { abort_mpi(reason); }

  void check(int code, const char* call) const {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationError(fmt::format("rank {}: {} failed: {}", rank_, call,
                                         std::string_view(text, static_cast<std::size_t>(length))));
  }

 protected:
  void do_all_reduce(Tensor& data, Reduction reduction) override {
    const MPI_Datatype type = mpi_type(data.dtype());
    in_pieces(data.elements(), [&](std::int64_t begin, int count) {
      check(MPI_Allreduce(MPI_IN_PLACE, at(data, begin), count, type, mpi_op(reduction), comm_),
            "all_reduce");
    });
  }

  std::unique_ptr<Request> do_start_all_reduce(Tensor& data, Reduction reduction) override {
    const MPI_Datatype type = mpi_type(data.dtype());
    auto request = std::make_unique<MpiRequest>(*this, "all_reduce");
    in_pieces(data.elements(), [&](std::int64_t begin, int count) {
      check(MPI_Iallreduce(MPI_IN_PLACE, at(data, begin), count, type, mpi_op(reduction), comm_,
                           request->add_piece()),
            "all_reduce");
    });
    return request;
  }

  void do_broadcast(Tensor& data, int root) override {
    in_pieces(bytes(data), [&](std::int64_t begin, int count) {
      check(MPI_Bcast(byte(data, begin), count, MPI_BYTE, root, comm_), "broadcast");
    });
  }

  void do_all_gather(const Tensor& mine, Tensor& all) override {
    const int count = int_count(bytes(mine), "all_gather");
    check(MPI_Allgather(mine.raw(), count, MPI_BYTE, all.raw(), count, MPI_BYTE, comm_),
          "all_gather");
  }

  void do_reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction) override {
    const int count = int_count(mine.elements(), "reduce_scatter");
    check(MPI_Reduce_scatter_block(all.raw(), mine.raw(), count, mpi_type(all.dtype()),
                                   mpi_op(reduction), comm_),
          "reduce_scatter");
  }

  std::unique_ptr<Request> do_start_send(const Tensor& data, int to, int tag) override {
    auto request = std::make_unique<MpiRequest>(*this, "send");
    in_pieces(bytes(data), [&](std::int64_t begin, int count) {
      check(MPI_Isend(byte(data, begin), count, MPI_BYTE, to, tag, comm_, request->add_piece()),
            "send");
    });
    return request;
  }

  std::unique_ptr<Request> do_start_receive(Tensor& data, int from, int tag) override {
    auto request = std::make_unique<MpiRequest>(*this, "receive");
    in_pieces(bytes(data), [&](std::int64_t begin, int count) {
      check(MPI_Irecv(byte(data, begin), count, MPI_BYTE, from, tag, comm_, request->add_piece()),
            "receive");
    });
    return request;
  }

  void do_barrier() override { check(MPI_Barrier(comm_), "barrier"); }

 private:
  static std::int64_t bytes(const Tensor& data) { return static_cast<std::int64_t>(data.bytes()); }
  static const void* byte(const Tensor& data, std::int64_t i) {
    return static_cast<const char*>(data.raw()) + i;
  }
  static void* byte(Tensor& data, std::int64_t i) { return static_cast<char*>(data.raw()) + i; }
  static void* at(Tensor& data, std::int64_t element) {
    return byte(data, element * static_cast<std::int64_t>(size_of(data.dtype())));
  }

  /// At least one piece, so that an empty tensor takes part too.
  template <class F>
  static void in_pieces(std::int64_t count, const F& piece) {
    std::int64_t begin = 0;
    do {
      piece(begin, static_cast<int>(std::min(count - begin, kLargestPiece)));
      begin += kLargestPiece;
    } while (begin < count);
  }

  int int_count(std::int64_t count, const char* call) const {
    if (count <= kLargestPiece) return static_cast<int>(count);
    throw Unsupported(
        fmt::format("rank {}: {} of {} elements a rank; at most {} go in one call, so "
                    "split it",
                    rank_, call, count, kLargestPiece));
  }

  MPI_Comm comm_ = MPI_COMM_NULL;  // freed with MPI, when the process exits
  int rank_ = 0, size_ = 1;
};

void MpiRequest::wait() {
  owner_.check(MPI_Waitall(static_cast<int>(pieces_.size()), pieces_.data(), MPI_STATUSES_IGNORE),
               call_);
}

bool MpiRequest::done() {
  int all = 0;
  owner_.check(
      MPI_Testall(static_cast<int>(pieces_.size()), pieces_.data(), &all, MPI_STATUSES_IGNORE),
      call_);
  return all != 0;
}

}  // namespace

std::shared_ptr<Communicator> make_mpi_communicator() {
  return std::make_shared<MpiCommunicator>();
}

}  // namespace d5::detail
