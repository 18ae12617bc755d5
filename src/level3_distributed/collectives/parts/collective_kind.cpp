// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective_kind.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

using Algorithm = CollectiveKind::Algorithm;

template <auto registry>
std::vector<std::string> names() {
  return registry().names();
}

template <auto registry>
auto made(const EntryChoice& choice) {
  return registry().at(choice.name).make(choice.settings);
}

Algorithm make_all_reduce(const EntryChoice& choice) {
  const auto one = made<all_reduces>(choice);
  return {one, [one](Communicator& ranks, CommunicationCall& call) {
            return one->start(ranks, call.output, call.reduction);
          }};
}

Algorithm make_broadcast(const EntryChoice& choice) {
  const auto one = made<broadcasts>(choice);
  return {one, [one](Communicator& ranks, CommunicationCall& call) {
            return one->start(ranks, call.output, call.peer);
          }};
}

Algorithm make_reduce_scatter(const EntryChoice& choice) {
  const auto one = made<reduce_scatters>(choice);
  return {one, [one](Communicator& ranks, CommunicationCall& call) {
            return one->start(ranks, call.input, call.output, call.reduction, call.input_counts);
          }};
}

Algorithm make_all_gather(const EntryChoice& choice) {
  const auto one = made<all_gathers>(choice);
  return {one, [one](Communicator& ranks, CommunicationCall& call) {
            return one->start(ranks, call.input, call.output, call.output_counts);
          }};
}

double all_but_one(int ranks) { return double(ranks - 1) / ranks; }

}  // namespace

CommunicationCall CollectiveKind::call_of(DType dtype, int rank, const Parts& parts) const {
  CommunicationCall result{.kind = call, .peer = 0};
  result.output = Tensor::zeros(dtype, {gets(rank, parts).size()});
  if (call != CallKind::reduce_scatter && call != CallKind::all_gather) return result;
  result.input = Tensor::zeros(dtype, {brings(rank, parts).size()});
  const bool equal = parts.elements() % parts.size() == 0;
  auto& counts = call == CallKind::all_gather ? result.output_counts : result.input_counts;
  for (int p = 0; !equal && p < parts.size(); ++p) counts.push_back(parts[p].size());
  return result;
}

const std::vector<CollectiveKind>& collective_kinds() {
  static const std::vector<CollectiveKind> kinds{
      {CallKind::all_reduce, "all-reduce", "all-reduces", names<all_reduces>, make_all_reduce,
       [](int ranks) { return 2 * all_but_one(ranks); }},
      {CallKind::broadcast, "broadcast", "broadcasts", names<broadcasts>, make_broadcast,
       [](int) { return 1.0; }},
      {CallKind::reduce_scatter, "reduce-scatter", "reduce-scatters", names<reduce_scatters>,
       make_reduce_scatter, all_but_one},
      {CallKind::all_gather, "all-gather", "all-gathers", names<all_gathers>, make_all_gather,
       all_but_one}};
  return kinds;
}

const CollectiveKind& collective_kind(CallKind call) {
  const auto found = std::ranges::find(collective_kinds(), call, &CollectiveKind::call);
  if (found != collective_kinds().end()) return *found;
  throw ValueError(
      fmt::format("collective_kind: {} has no algorithms to choose from; all_reduce, broadcast, "
                  "reduce_scatter and all_gather have",
                  name_of(call)));
}

}  // namespace d5
