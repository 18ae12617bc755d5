// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "eager_operation.hpp"
#include "graph.hpp"
#include "runtime.hpp"

namespace d5::tensorflow {

/// A part of a graph, from fed terms to its results, as a sequence of eager operations. Values that
/// depend on nothing that is fed (constants, shapes, what follows from them) are computed once,
/// when it is made. A run formats no strings.
class EagerProgram {
 public:
  /// `graph` may be destroyed earlier. Throws: Unsupported for an operation without a kernel.
  EagerProgram(const Graph& graph, std::span<const Term> fed, std::span<const Term> results);

  /// Whether any result depends on the `i`th fed term.
  [[nodiscard]] bool reads(std::size_t i) const { return reads_[i]; }
  /// False if d5's number of threads has changed since: make another one.
  [[nodiscard]] bool is_current() const { return runtime_->is_current(); }

  /// `fed[i]` may be null if it is not read. Throws: as `Status::expect_ok`.
  void run(std::span<TFE_TensorHandle* const> fed);
  /// The `k`th result of the last run, until `forget`.
  [[nodiscard]] TensorPointer result(std::size_t k) const;
  /// Frees the results.
  void forget();

 private:
  using Place = int;  ///< >= 0: of a value; -1 - i: of what is fed as `i`
  struct Step {
    EagerOperation operation;
    std::vector<Place> arguments;
    Place first;                       ///< its results are values from here on
    std::vector<Place> finished = {};  ///< values that no later operation reads
  };

  [[nodiscard]] Place place_of(const Graph& graph, Term term);
  void visit(const Graph& graph, TF_Operation* operation);
  Place add_known(const TF_Tensor& value);
  void add_step(TF_Operation* operation, std::vector<Place> arguments);
  void note_reads(const std::vector<Place>& places);
  void find_last_uses();
  void execute(Step& step);

  std::string who_;
  std::shared_ptr<Runtime> runtime_;
  Status status_;
  std::vector<bool> reads_;
  std::vector<HandlePointer> values_;
  std::vector<bool> known_;  ///< values that were computed once
  std::vector<Step> steps_;
  std::vector<Place> results_;
  std::span<TFE_TensorHandle* const> fed_;  ///< for the current run
  std::vector<TFE_TensorHandle*> arguments_;
  std::map<std::pair<TF_Operation*, int>, Place> places_;  ///< while it is made
};

}  // namespace d5::tensorflow
