// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/core/tensor/value.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/communicator/communication_schedule.hpp"

namespace d5 {

/// One parameter's gradient within what is compressed.
struct GradientPart {
  std::int64_t offset = 0;  ///< of its first element
  Shape shape;
};

/// What is compressed, of which step: a bucket of gradients.
struct CompressionPlace {
  std::size_t bucket = 0;
  std::int64_t step = 0;
  std::span<const GradientPart> parts = {};  ///< lives until the request is done
};

/// A stream of random numbers that depends on the seed, the step, the bucket and the rank alone.
[[nodiscard]] RandomStream compression_stream(std::uint64_t seed, const CompressionPlace& place,
                                              int rank);
/// The same on all ranks.
[[nodiscard]] RandomStream shared_compression_stream(std::uint64_t seed,
                                                     const CompressionPlace& place);

/// Sums gradients over ranks in fewer bytes, and not exactly. One object a rank; all ranks ask for
/// the same buckets in the same order, each of which has a communicator of its own where `rounds`
/// says so.
///
///     auto top = gradient_compressors().at("top_k").make({{"fraction", 0.01}});
///     top->start(*world(), *all_reduce, value, rest, {.bucket = 0, .step = 7})->wait();
class GradientCompressor {
 public:
  virtual ~GradientCompressor() = default;
  /// When the request is done, `value` is the sum over ranks of what each rank sent of its own, the
  /// same bits on every rank; `rest`, where it is defined, is this rank's value without what was
  /// sent of it.
  ///
  /// Shapes: both are float32 and 1-D, of one size. A value that is not finite makes some of the
  /// sum, or of the rest, not finite.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce,
                                                       Tensor value, Tensor rest,
                                                       const CompressionPlace& place) = 0;
  /// Calls of the communicator that wait for one another. Where there are several, and several
  /// buckets are under way, ranks come to them in different orders.
  [[nodiscard]] virtual int rounds() const { return 1; }
  /// Whether the result is a sum, so that what was not sent may be sent later.
  [[nodiscard]] virtual bool leaves_rest() const { return true; }
  /// E|x - C(x)|^2 is at most so many times |x|^2 for every x of `elements` (for int8 in the
  /// maximum norm, for terngrad of the largest rank's x). Below 1, C is a contraction: what error
  /// feedback keeps stays bounded then, and else may grow with each step. Nothing: it does not say;
  /// feedback is the user's affair then. Source: Karimireddy et al., "Error Feedback Fixes SignSGD
  /// and Other Gradient Compression Schemes" (ICML 2019), assumption A and lemma 3.
  [[nodiscard]] virtual std::optional<double> rest_bound(std::int64_t elements) const {
    (void)elements;
    return std::nullopt;
  }
  /// Settings that make that smaller, as in "smaller blocks"; empty: none do.
  [[nodiscard]] virtual std::string smaller_rest() const { return ""; }
  /// What a checkpoint keeps.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, ShapeError.
  virtual void restore(const ValueMap& state) { (void)state; }
};

/// A compressor whose messages cannot be added as they are: every rank gets those of all, and adds
/// what they say in the order of ranks.
class GatheredCompressor : public GradientCompressor {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce,
                                               Tensor value, Tensor rest,
                                               const CompressionPlace& place) final;
  /// Whether each parameter's gradient is compressed on its own: a bucket's message is theirs one
  /// after another, and what lies between them is zero.
  [[nodiscard]] virtual bool by_part() const { return false; }
  /// Of what `compress` draws.
  [[nodiscard]] virtual std::uint64_t seed() const { return 0; }
  /// Units: bytes.
  [[nodiscard]] virtual std::int64_t message_bytes(std::int64_t elements) const = 0;
  /// `random` is this rank's, of this step and bucket.
  virtual void compress(std::span<const float> value, RandomStream& random,
                        std::span<std::uint8_t> message) = 0;
  /// values += factor times what the message says; the factor is 1 or -1.
  /// Throws: CommunicationError for a message that `compress` does not write.
  virtual void add(std::span<const std::uint8_t> message, float factor,
                   std::span<float> values) const = 0;

 protected:
  /// Called once, after the messages of all ranks were added.
  virtual void finish(std::span<float> sum) const { (void)sum; }

 private:
  CommunicationSchedule gather(Communicator& ranks, Tensor value, Tensor rest,
                               CompressionPlace place);
};

using GradientCompressorEntry = Entry<std::shared_ptr<GradientCompressor>()>;
/// All by name; src/level3_distributed/compressors holds the built-in ones.
[[nodiscard]] Registry<GradientCompressorEntry>& gradient_compressors();

}  // namespace d5
