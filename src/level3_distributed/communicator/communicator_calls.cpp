// SPDX-License-Identifier: Apache-2.0
// The calls of a communicator, blocking and started, each as a `CommunicationCall`.
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {
namespace {

CommunicationCall all_reduce_call(Tensor& data, Reduction reduction) {
  return {.kind = CallKind::all_reduce, .output = data, .reduction = reduction};
}
CommunicationCall broadcast_call(Tensor& data, int root) {
  // A negative root is invalid; it does not mean "any".
  return {.kind = CallKind::broadcast, .output = data, .peer = root};
}
CommunicationCall all_gather_call(const Tensor& mine, Tensor& all, const RankCounts& counts) {
  return {.kind = CallKind::all_gather, .input = mine, .output = all, .output_counts = counts};
}
CommunicationCall reduce_scatter_call(const Tensor& all, Tensor& mine, Reduction reduction,
                                      const RankCounts& counts) {
  return {.kind = CallKind::reduce_scatter,
          .input = all,
          .output = mine,
          .reduction = reduction,
          .input_counts = counts};
}
CommunicationCall gather_call(const Tensor& mine, Tensor& all, int root, const RankCounts& counts) {
  return {.kind = CallKind::gather,
          .input = mine,
          .output = all,
          .peer = root,
          .output_counts = counts};
}
CommunicationCall scatter_call(const Tensor& all, Tensor& mine, int root,
                               const RankCounts& counts) {
  return {.kind = CallKind::scatter,
          .input = all,
          .output = mine,
          .peer = root,
          .input_counts = counts};
}
CommunicationCall all_to_all_call(const Tensor& to_each, Tensor& from_each,
                                  const RankCounts& to_counts, const RankCounts& from_counts) {
  return {.kind = CallKind::all_to_all,
          .input = to_each,
          .output = from_each,
          .input_counts = to_counts,
          .output_counts = from_counts};
}
CommunicationCall send_call(const Tensor& data, int to, int tag) {
  return {.kind = CallKind::send, .input = data, .peer = to, .tag = tag};
}
CommunicationCall receive_call(Tensor& data, int from, int tag, Received* received) {
  return {
      .kind = CallKind::receive, .output = data, .peer = from, .tag = tag, .received = received};
}

}  // namespace

void Communicator::all_reduce(Tensor& data, Reduction reduction) {
  run(all_reduce_call(data, reduction));
}
std::unique_ptr<Request> Communicator::start_all_reduce(Tensor& data, Reduction reduction) {
  return start(all_reduce_call(data, reduction));
}
void Communicator::broadcast(Tensor& data, int root) { run(broadcast_call(data, root)); }
std::unique_ptr<Request> Communicator::start_broadcast(Tensor& data, int root) {
  return start(broadcast_call(data, root));
}
void Communicator::all_gather(const Tensor& mine, Tensor& all, const RankCounts& counts) {
  run(all_gather_call(mine, all, counts));
}
std::unique_ptr<Request> Communicator::start_all_gather(const Tensor& mine, Tensor& all,
                                                        const RankCounts& counts) {
  return start(all_gather_call(mine, all, counts));
}
void Communicator::reduce_scatter(const Tensor& all, Tensor& mine, Reduction reduction,
                                  const RankCounts& counts) {
  run(reduce_scatter_call(all, mine, reduction, counts));
}
std::unique_ptr<Request> Communicator::start_reduce_scatter(const Tensor& all, Tensor& mine,
                                                            Reduction reduction,
                                                            const RankCounts& counts) {
  return start(reduce_scatter_call(all, mine, reduction, counts));
}
void Communicator::gather(const Tensor& mine, Tensor& all, int root, const RankCounts& counts) {
  run(gather_call(mine, all, root, counts));
}
std::unique_ptr<Request> Communicator::start_gather(const Tensor& mine, Tensor& all, int root,
                                                    const RankCounts& counts) {
  return start(gather_call(mine, all, root, counts));
}
void Communicator::scatter(const Tensor& all, Tensor& mine, int root, const RankCounts& counts) {
  run(scatter_call(all, mine, root, counts));
}
std::unique_ptr<Request> Communicator::start_scatter(const Tensor& all, Tensor& mine, int root,
                                                     const RankCounts& counts) {
  return start(scatter_call(all, mine, root, counts));
}
void Communicator::all_to_all(const Tensor& to_each, Tensor& from_each, const RankCounts& to_counts,
                              const RankCounts& from_counts) {
  run(all_to_all_call(to_each, from_each, to_counts, from_counts));
}
std::unique_ptr<Request> Communicator::start_all_to_all(const Tensor& to_each, Tensor& from_each,
                                                        const RankCounts& to_counts,
                                                        const RankCounts& from_counts) {
  return start(all_to_all_call(to_each, from_each, to_counts, from_counts));
}
void Communicator::barrier() { run({.kind = CallKind::barrier}); }
std::unique_ptr<Request> Communicator::start_barrier() {
  return start({.kind = CallKind::barrier});
}
void Communicator::send(const Tensor& data, int to, int tag) { run(send_call(data, to, tag)); }
std::unique_ptr<Request> Communicator::start_send(const Tensor& data, int to, int tag) {
  return start(send_call(data, to, tag));
}
void Communicator::receive(Tensor& data, int from, int tag, Received* received) {
  run(receive_call(data, from, tag, received));
}
std::unique_ptr<Request> Communicator::start_receive(Tensor& data, int from, int tag,
                                                     Received* received) {
  return start(receive_call(data, from, tag, received));
}

}  // namespace d5
