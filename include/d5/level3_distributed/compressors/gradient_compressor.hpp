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

/// One parameter's gradient within a bucket.
struct GradientPart {
  std::int64_t offset = 0;  ///< index of its first element
  Shape shape;
};

/// The bucket of gradients that is compressed, and the training step.
struct CompressionPlace {
  std::size_t bucket = 0;
  std::int64_t step = 0;
  std::span<const GradientPart> parts = {};  ///< must live until the request is done
};

/// A stream of random numbers that depends only on the seed, the step, the bucket and the rank.
[[nodiscard]] RandomStream compression_stream(std::uint64_t seed, const CompressionPlace& place,
                                              int rank);
/// A stream that is the same on all ranks.
[[nodiscard]] RandomStream shared_compression_stream(std::uint64_t seed,
                                                     const CompressionPlace& place);

/// Lossy gradient compression: sums gradients over ranks approximately, in fewer bytes. There is
/// one object per rank. All ranks start the same buckets in the same order; if `rounds` is above 1,
/// each bucket has its own communicator.
///
///     auto top = gradient_compressors().at("top_k").make({{"fraction", 0.01}});
///     top->start(*world(), *all_reduce, value, rest, {.bucket = 0, .step = 7})->wait();
class GradientCompressor {
 public:
  virtual ~GradientCompressor() = default;
  /// Starts the compressed sum of one bucket. When the request is done, `value` is the sum over
  /// ranks of the compressed values, with the same bits on every rank. `rest`, if defined, is this
  /// rank's compression error (value minus sent value), for error feedback.
  ///
  /// Shapes: both are float32, 1-D and of equal size. A value that is not finite makes some element
  /// of the sum or of the rest not finite.
  [[nodiscard]] virtual std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce,
                                                       Tensor value, Tensor rest,
                                                       const CompressionPlace& place) = 0;
  /// Number of dependent communication rounds. With several rounds and several buckets in flight,
  /// ranks reach the calls in different orders.
  [[nodiscard]] virtual int rounds() const { return 1; }
  /// Whether the compression error can be sent later (error feedback): true if the result is a sum.
  [[nodiscard]] virtual bool leaves_rest() const { return true; }
  /// Contraction bound: E|x - C(x)|^2 <= bound * |x|^2 for every x of `elements` (int8: in the
  /// maximum norm; terngrad: for the largest rank's x). Below 1, C is a contraction and the error
  /// that error feedback keeps stays bounded; otherwise it may grow with each step. nullopt:
  /// unknown; whether to use error feedback is up to the user.
  /// Source: Karimireddy et al., "Error Feedback Fixes SignSGD and Other Gradient Compression
  /// Schemes" (ICML 2019), assumption A and lemma 3.
  [[nodiscard]] virtual std::optional<double> rest_bound(std::int64_t elements) const {
    (void)elements;
    return std::nullopt;
  }
  /// Settings that lower the bound, such as "smaller blocks"; empty: none.
  [[nodiscard]] virtual std::string smaller_rest() const { return ""; }
  /// State for a checkpoint.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, ShapeError.
  virtual void restore(const ValueMap& state) { (void)state; }
};

/// A compressor whose messages cannot be summed in compressed form: an all-gather brings the
/// messages of all ranks to every rank, which decodes and adds them in rank order.
class GatheredCompressor : public GradientCompressor {
 public:
  [[nodiscard]] std::unique_ptr<Request> start(Communicator& ranks, AllReduce& all_reduce,
                                               Tensor value, Tensor rest,
                                               const CompressionPlace& place) final;
  /// Whether each parameter's gradient is compressed on its own. A bucket's message is then their
  /// concatenation, and padding between them becomes zero.
  [[nodiscard]] virtual bool by_part() const { return false; }
  /// Seed of the random numbers in `compress`.
  [[nodiscard]] virtual std::uint64_t seed() const { return 0; }
  /// Units: bytes.
  [[nodiscard]] virtual std::int64_t message_bytes(std::int64_t elements) const = 0;
  /// `random` is the stream of this rank, step and bucket.
  virtual void compress(std::span<const float> value, RandomStream& random,
                        std::span<std::uint8_t> message) = 0;
  /// Adds the decoded message: values += factor * message; the factor is 1 or -1.
  /// Throws: CommunicationError for a message that `compress` does not write.
  virtual void add(std::span<const std::uint8_t> message, float factor,
                   std::span<float> values) const = 0;

 protected:
  /// Called once, after the messages of all ranks are added.
  virtual void finish(std::span<float> sum) const { (void)sum; }

 private:
  CommunicationSchedule gather(Communicator& ranks, Tensor value, Tensor rest,
                               CompressionPlace place);
};

using GradientCompressorEntry = Entry<std::shared_ptr<GradientCompressor>()>;
/// All compressors by name; src/level3_distributed/compressors holds the built-in ones.
[[nodiscard]] Registry<GradientCompressorEntry>& gradient_compressors();

}  // namespace d5
