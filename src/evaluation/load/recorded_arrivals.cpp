// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "d5/evaluation/load/request_trace.hpp"

namespace d5 {
namespace {

class RecordedArrivals final : public ArrivalStream {
 public:
  RecordedArrivals(RequestTrace trace, double round) : trace_(std::move(trace)), round_(round) {}
  std::optional<double> next() override {
    if (place_ == trace_.requests.size()) {
      if (round_ == 0) return std::nullopt;
      place_ = 0;
      ++rounds_;
    }
    return trace_.requests[place_++].at + double(rounds_) * round_;
  }

 private:
  RequestTrace trace_;
  double round_;  ///< s from a round to the next; 0: a single round
  std::size_t place_ = 0;
  std::int64_t rounds_ = 0;
};

}  // namespace

std::unique_ptr<ArrivalStream> recorded_arrivals(const RecordingOptions& options) {
  RequestTrace trace = read_trace(options);
  const double round = options.loop ? trace.round_seconds() : 0;
  return std::make_unique<RecordedArrivals>(std::move(trace), round);
}

}  // namespace d5
