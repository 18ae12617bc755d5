// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"
#include "level3_distributed/compressors/parts/message_piece.hpp"
#include "level3_distributed/exchange/bucket_values.hpp"
#include "level3_distributed/exchange/contraction.hpp"
#include "level3_distributed/exchange/unsent_gradients.hpp"
#include "level3_distributed/exchange/wide_buckets.hpp"

namespace d5 {
namespace {

struct OneBitAdamOptions {
  EntryChoice compressor{"scaled_sign"};

  void declare(OptionList& options) {
    options.add("compressor", compressor,
                "compressor of the momentum, one that gathers its messages",
                gradient_compressors().kind());
  }
};

std::shared_ptr<GatheredCompressor> make_compressor(const EntryChoice& choice) {
  auto compressor = std::dynamic_pointer_cast<GatheredCompressor>(
      gradient_compressors().at(choice.name).make(choice.settings));
  if (compressor && compressor->leaves_rest()) return compressor;
  throw Unsupported(
      fmt::format("exchange one_bit_adam: compressor '{}' does not gather messages that each rank "
                  "adds; expected one such as scaled_sign, top_k or int8",
                  choice.name));
}

/// Exchanges gradients uncompressed during the optimizer's `warm_up`; afterwards the ranks compress
/// the momentum m instead of gradients. Each rank is the server of one chunk of each bucket. With
/// the compression errors e of a rank and d of a server, and the rank's share w:
///
///     rank:    c = C(m / n beta1 + (1 - beta1) w g + e), each chunk to its server; e: the rest
///     server:  m' = C(sum of c + d), to all; d: the rest
///     rank:    g' = (m' - beta1 m) / (1 - beta1); m <- m'
///
/// The optimizer gets g', so that its own momentum becomes m'. `beta1` and `warm_up` are read from
/// the optimizer's hyper-parameters.
/// Units: compressed messages of chunks, (n - 1) / n of a bucket to servers and 1 / n from this
/// one.
class OneBitAdamExchange final : public GradientExchange {
 public:
  using Options = OneBitAdamOptions;
  OneBitAdamExchange(std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce,
                     const Options& options)
      : GradientExchange(std::move(ranks)),
        all_reduce_(std::move(all_reduce)),
        compressor_(make_compressor(options.compressor)) {}

  void attach(ThreeStepOptimizer& optimizer) override {
    const HyperParameters& numbers = optimizer.hyper_parameters();
    for (const char* name : {"beta1", "warm_up"}) {
      if (numbers.has(name)) continue;
      throw Unsupported(fmt::format(
          "exchange one_bit_adam: the optimizer has no hyper-parameter '{}'; expected one that has "
          "a momentum of beta1 and nothing else that changes after warm_up steps: frozen_adam",
          name));
    }
    optimizer_ = &optimizer;
  }

  void lay_out(Network& network, const std::vector<GradientBucket>& of_any_type) override {
    const std::vector<GradientBucket>& buckets = wide_.lay_out(of_any_type);
    unsent_.lay_out(network, buckets);
    detail::expect_contraction(*compressor_, buckets, "exchange one_bit_adam", "");
    std::vector<std::int64_t> whole, served;
    chunks_.assign(buckets.size(), {});
    for (const GradientBucket& bucket : buckets) {
      const std::int64_t size = bucket.data.elements();
      whole.push_back(size);
      served.push_back(begin_of(ranks().rank() + 1, size) - begin_of(ranks().rank(), size));
      for (int r = 0; r < ranks().size(); ++r) {
        chunks_[bucket.index].push_back(
            detail::pieces_of(*compressor_, {begin_of(r, size), begin_of(r + 1, size)},
                              unsent_.place(bucket, {}).parts));
      }
    }
    momentum_.lay_out(whole);
    served_.lay_out(served);
    // Ranks reach the later calls of several buckets in different orders, so each bucket has its
    // own group.
    while (groups_.size() < buckets.size()) {
      groups_.push_back(ranks().split(0, ranks().rank()));
    }
  }

  std::unique_ptr<Request> start(const GradientBucket& bucket, const ExchangeStep& step) override {
    expect_next(step);
    return wide_.give_back(ranks(), bucket, start_on(wide_.take(bucket), step));
  }

  ValueMap state() const override {
    ValueMap state = unsent_.state();
    momentum_.add_to(state);
    served_.add_to(state);
    detail::add_part(state, kCompressor, compressor_->state());
    return state;
  }

  void restore(const ValueMap& state) override {
    unsent_.restore(state);
    momentum_.restore(state, unsent_.steps());
    served_.restore(state, unsent_.steps());
    compressor_->restore(detail::part_of(state, kCompressor));
    last_ = {};
  }

 private:
  using Pieces = std::vector<detail::MessagePiece>;
  /// Counters of a step, to recognise the next one.
  struct Steps {
    std::int64_t exchanged = -1, made = 0;
  };

  std::unique_ptr<Request> start_on(const GradientBucket& bucket, const ExchangeStep& step) {
    const HyperParameters& numbers = optimizer_->hyper_parameters();
    const double beta1 = numbers.at("beta1");
    const CompressionPlace place = unsent_.place(bucket, step);
    Tensor data = bucket.data;
    if (static_cast<double>(place.step + 1) <= numbers.at("warm_up")) {
      unsent_.count(step);
      if (step.weight != 1) ranks().scale_local(data, step.weight);
      return run_schedule(ranks(), densely(data, place, beta1));
    }
    unsent_.add_to(bucket, {step.number, (1 - beta1) * step.weight}, ranks());
    Communicator& group = *groups_[bucket.index];
    return run_schedule(
        group, compressed(group, data, unsent_.rest(bucket), place, static_cast<float>(beta1)));
  }

  std::int64_t begin_of(int chunk, std::int64_t size) const {
    return size * chunk / ranks().size();
  }

  /// Checks that exactly one update follows each exchange; only then is the momentum the
  /// optimizer's.
  void expect_next(const ExchangeStep& step) {
    if (optimizer_ == nullptr) {
      throw ValueError("exchange one_bit_adam: it has no optimizer; attach it to one first");
    }
    if (step.number == last_.exchanged) return;
    const bool follows =
        last_.exchanged < 0 || optimizer_->steps() - last_.made == step.number - last_.exchanged;
    if (!follows || optimizer_->refused_steps() > 0) {
      throw Unsupported(
          "exchange one_bit_adam: a step was refused, or takes several gradients, so that the "
          "optimizer's momentum is not the one that ranks compress; leave out loss_scale, sam and "
          "the like, or exchange with dense");
    }
    last_ = {step.number, optimizer_->steps()};
  }

  CommunicationSchedule densely(Tensor data, CompressionPlace place, double beta1) {
    auto summed = all_reduce_->start(ranks(), data);
    co_await summed;
    const auto kept = static_cast<float>(beta1), taken = static_cast<float>(1 - beta1);
    Tensor momentum = momentum_.at(place.bucket);
    const float* g = data.data<float>();
    float* m = momentum.data<float>();
    for (const GradientPart& part : place.parts) {  // padding between them is arbitrary
      for (std::int64_t i = part.offset; i < part.offset + part.shape.elements(); ++i) {
        m[i] = kept * m[i] + taken * g[i];
      }
    }
  }

  /// `data` is (1 - beta1) w g + e.
  CommunicationSchedule compressed(Communicator& group, Tensor data, Tensor rest,
                                   CompressionPlace place, float beta1) {
    const std::vector<Pieces>& chunks = chunks_[place.bucket];
    const auto own = static_cast<std::size_t>(group.rank());
    RandomStream random = compression_stream(compressor_->seed(), place, group.rank());
    RankCounts bytes;
    for (const Pieces& chunk : chunks) bytes.push_back(detail::message_bytes(chunk));
    const RankCounts own_bytes(chunks.size(), bytes[own]);
    const auto values = data.span<float>(), m = Tensor(momentum_.at(place.bucket)).span<float>();
    const float share = beta1 / static_cast<float>(group.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += share * m[i];

    Tensor to_servers = messages(bytes), from_ranks = messages(own_bytes);
    rest.copy_from(data);
    for (std::size_t r = 0; r < chunks.size(); ++r) {
      const auto message = message_of(to_servers, bytes, r);
      compress(chunks[r], values, random, message);
      add(chunks[r], message, -1, rest.span<float>());
    }
    auto sent = group.start_all_to_all(to_servers, from_ranks, bytes, own_bytes);
    co_await sent;

    Tensor chunk = data.slice(begin_of(group.rank(), data.elements()),
                              begin_of(group.rank() + 1, data.elements()));
    Tensor served = served_.at(place.bucket);
    chunk.copy_from(served);
    for (std::size_t r = 0; r < chunks.size(); ++r) {
      add(chunks[own], message_of(from_ranks, own_bytes, r), 1, values);
    }
    Tensor mine = messages({bytes[own]}), all = messages(bytes);
    compress(chunks[own], values, random, mine.span<std::uint8_t>());
    add(chunks[own], mine.span<std::uint8_t>(), -1, values);
    served.copy_from(chunk);
    auto gathered = group.start_all_gather(mine, all, bytes);
    co_await gathered;

    std::ranges::fill(values, 0.0f);
    for (std::size_t r = 0; r < chunks.size(); ++r) {
      add(chunks[r], message_of(all, bytes, r), 1, values);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float next = values[i];
      values[i] = (next - beta1 * m[i]) / (1 - beta1);
      m[i] = next;
    }
  }

  static Tensor messages(const RankCounts& bytes) {
    return Tensor::empty(DType::uint8,
                         {std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0})});
  }
  static std::span<std::uint8_t> message_of(Tensor& all, const RankCounts& bytes, std::size_t r) {
    const auto begin = std::accumulate(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(r), std::int64_t{0});
    return all.span<std::uint8_t>().subspan(static_cast<std::size_t>(begin),
                                            static_cast<std::size_t>(bytes[r]));
  }
  void compress(const Pieces& pieces, std::span<const float> values, RandomStream& random,
                std::span<std::uint8_t> message) {
    for (const auto& piece : pieces) {
      compressor_->compress(piece.values(values), random, piece.message(message));
    }
  }
  void add(const Pieces& pieces, std::span<const std::uint8_t> message, float factor,
           std::span<float> values) const {
    for (const auto& piece : pieces) {
      compressor_->add(piece.message(message), factor, piece.values(values));
    }
  }

  static inline const std::string kWho = "exchange one_bit_adam", kCompressor = "compressor/";
  std::shared_ptr<AllReduce> all_reduce_;
  std::shared_ptr<GatheredCompressor> compressor_;
  ThreeStepOptimizer* optimizer_ = nullptr;
  detail::WideBuckets wide_;
  detail::UnsentGradients unsent_{kWho, true};         // e
  detail::BucketValues served_{kWho, "served/"};       // d, of this rank's chunks
  detail::BucketValues momentum_{kWho, "momentum/"};   // m, the same on all ranks
  std::vector<std::vector<Pieces>> chunks_;            // by bucket, by server
  std::vector<std::shared_ptr<Communicator>> groups_;  // by bucket, of all ranks
  Steps last_;
};

}  // namespace

namespace exchange {

/// Source: Tang et al., "1-bit Adam: Communication Efficient Large-Scale Training with Adam's
/// Convergence Speed" (ICML 2021), algorithm 1.
void register_one_bit_adam(Registry<GradientExchangeEntry>& registry) {
  registry.add("one_bit_adam",
               GradientExchangeEntry::of<OneBitAdamExchange>(
                   "1-bit Adam: compressed momentum of frozen_adam (Tang et al., 2021)"));
}

}  // namespace exchange
}  // namespace d5
