// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: counts n-grams in rows of tokens.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {
namespace {

/// A trie of n-grams: each token leads from an n-gram to one that is longer by it. Mere prefixes
/// have no column.
template <class Token>
class NGramTree {
 public:
  static constexpr std::int32_t kRoot = 0;  ///< no token yet
  static constexpr std::int32_t kNone = -1;

  /// False if it exists already.
  bool add(std::span<const Token> tokens, std::int64_t column) {
    std::int32_t place = kRoot;
    for (const Token& token : tokens) {
      const std::int32_t id =
          ids_.try_emplace(token, static_cast<std::int32_t>(ids_.size())).first->second;
      const auto [step, is_new] =
          steps_.try_emplace(key(place, id), static_cast<std::int32_t>(columns_.size()));
      if (is_new) columns_.push_back(kNone);
      place = step->second;
    }
    if (columns_[static_cast<std::size_t>(place)] != kNone) return false;
    columns_[static_cast<std::size_t>(place)] = column;
    return true;
  }

  /// The id of a token; kNone if no n-gram contains it.
  template <class Given>
  [[nodiscard]] std::int32_t id(const Given& token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? kNone : found->second;
  }
  /// The node after `place` and one more token, or kNone.
  [[nodiscard]] std::int32_t next(std::int32_t place, std::int32_t id) const {
    const auto found = steps_.find(key(place, id));
    return found == steps_.end() ? kNone : found->second;
  }
  [[nodiscard]] std::int64_t column(std::int32_t place) const {
    return columns_[static_cast<std::size_t>(place)];
  }

 private:
  static std::uint64_t key(std::int32_t place, std::int32_t id) {
    return std::uint64_t(std::uint32_t(place)) << 32 | std::uint32_t(id);
  }

  std::unordered_map<Token, std::int32_t> ids_;
  std::unordered_map<std::uint64_t, std::int32_t> steps_;
  std::vector<std::int64_t> columns_ = {kNone};
};

}  // namespace
}  // namespace d5::detail

namespace d5::ops {
namespace {

using TfIdfVectorizerView = onnx::nodes::TfIdfVectorizer;

struct Lengths {
  std::int64_t shortest, longest;  // lengths of counted n-grams
  std::int64_t skips;              // maximal number of skipped tokens between two of an n-gram
};

/// Counts the n-grams of one row of token ids. A single token has no gaps, so it is counted once.
template <class Tree>
void count(const Tree& tree, const Lengths& lengths, std::span<const std::int32_t> row, float* y) {
  const auto size = std::int64_t(row.size());
  std::int64_t shortest = lengths.shortest;
  for (std::int64_t step = 1; step - 1 <= lengths.skips && step <= size; ++step) {
    if (shortest > lengths.longest) return;
    for (std::int64_t start = 0; start < size; ++start) {
      std::int32_t place = Tree::kRoot;
      std::int64_t length = 0;
      for (std::int64_t i = start; i < size && length < lengths.longest; i += step) {
        place = tree.next(place, row[std::size_t(i)]);
        if (place == Tree::kNone) break;
        const std::int64_t column = tree.column(place);
        if (++length >= shortest && column != Tree::kNone) y[column] += 1;
      }
    }
    shortest = std::max<std::int64_t>(shortest, 2);
  }
}

/// The begin and end of the n-grams of each length in the pool. Throws: ValueError if `starts` are
/// not ascending, or split an n-gram.
std::vector<std::size_t> bounds(const TfIdfVectorizerView& view, std::size_t pool) {
  std::vector<std::size_t> result;
  for (const std::int64_t start : view.ngram_counts()) {
    if (start < 0 || std::size_t(start) > pool ||
        (!result.empty() && std::size_t(start) < result.back())) {
      throw ValueError(
          fmt::format("{}: ngram_counts has {}, expected ascending starts in a pool of {}",
                      onnx::describe(view.node()), start, pool));
    }
    result.push_back(std::size_t(start));
  }
  result.push_back(pool);
  for (std::size_t n = 1; n < result.size(); ++n) {
    if ((result[n] - result[n - 1]) % n != 0) {
      throw ValueError(fmt::format("{}: the pool has {} tokens for {}-grams",
                                   onnx::describe(view.node()), result[n] - result[n - 1], n));
    }
  }
  return result;
}

/// Shapes: X is [C] or [N, C], a single text counts as [1]; Y has a column for each index up to the
/// largest of ngram_indexes instead of C.
class TfIdfVectorizer final : public Operator {
 public:
  explicit TfIdfVectorizer(const TfIdfVectorizerView& view);
  std::vector<ValueDesc> infer(const InferContext& context) const override;

  /// Each token begins an n-gram, once with each number of skips.
  Cost cost(const InferContext& context) const override {
    const Shape& x = context.shape(TfIdfVectorizerView::In::X);
    const double most = double(x.rank() == 0 ? 1 : x[x.rank() - 1]);
    return with_flop(context, double(x.elements()) * std::min(double(lengths_.skips) + 1, most));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override;

 private:
  template <class Token>
  using Tree = detail::NGramTree<Token>;
  template <class Token>
  std::shared_ptr<const Tree<Token>> make_tree(const TfIdfVectorizerView& view,
                                               const std::vector<Token>& pool);
  void weigh(const TfIdfVectorizerView& view);
  template <class T, class Token>
  std::unique_ptr<Kernel> make_kernel(PlanContext& context,
                                      const std::shared_ptr<const Tree<Token>>& tree) const;

  Lengths lengths_;
  std::string mode_;
  std::map<std::int64_t, float> weights_;  // weights of columns; default 1
  std::int64_t columns_ = 0;
  std::shared_ptr<const Tree<std::int64_t>> integers_;
  std::shared_ptr<const Tree<std::string>> texts_;
};

TfIdfVectorizer::TfIdfVectorizer(const TfIdfVectorizerView& view)
    : lengths_{view.min_gram_length(), view.max_gram_length(), view.max_skip_count()},
      mode_(view.mode()) {
  const std::string who = onnx::describe(view.node());
  if (mode_ != "TF" && mode_ != "IDF" && mode_ != "TFIDF") {
    throw ValueError(
        fmt::format("{}: mode is {}, expected TF, IDF or TFIDF", who, printable(mode_)));
  }
  if (lengths_.shortest < 1 || lengths_.longest < lengths_.shortest || lengths_.skips < 0) {
    throw ValueError(fmt::format(
        "{}: n-grams of length {} to {} with {} skips, expected 1 or more, rising, and 0 or more",
        who, lengths_.shortest, lengths_.longest, lengths_.skips));
  }
  const auto pool = view.pool_int64s();
  const auto texts = view.pool_strings();
  if (bool(pool) == bool(texts)) {
    throw ValueError(fmt::format("{}: expected one of pool_int64s and pool_strings", who));
  }
  if (pool) integers_ = make_tree(view, *pool);
  if (texts) texts_ = make_tree(view, *texts);
  weigh(view);
}

/// A column has the weight of its n-gram.
void TfIdfVectorizer::weigh(const TfIdfVectorizerView& view) {
  const auto weights = view.weights();
  if (!weights || weights->empty() || mode_ == "TF") return;
  const auto columns = view.ngram_indexes();
  if (weights->size() != columns.size()) {
    throw ValueError(fmt::format("{}: {} weights for {} n-grams", onnx::describe(view.node()),
                                 weights->size(), columns.size()));
  }
  for (std::size_t i = 0; i < columns.size(); ++i) weights_.emplace(columns[i], (*weights)[i]);
}

template <class Token>
std::shared_ptr<const TfIdfVectorizer::Tree<Token>> TfIdfVectorizer::make_tree(
    const TfIdfVectorizerView& view, const std::vector<Token>& pool) {
  const std::string who = onnx::describe(view.node());
  const auto columns = view.ngram_indexes();
  const auto starts = bounds(view, pool.size());
  std::size_t grams = 0;
  for (std::size_t n = 1; n < starts.size(); ++n) grams += (starts[n] - starts[n - 1]) / n;
  if (grams == 0 || grams != columns.size()) {
    throw ValueError(
        fmt::format("{}: {} ngram_indexes for {} n-grams, expected one for each, and "
                    "one n-gram at least",
                    who, columns.size(), grams));
  }
  auto tree = std::make_shared<Tree<Token>>();
  auto column = columns.begin();
  for (std::size_t n = 1; n < starts.size(); ++n) {
    for (std::size_t at = starts[n - 1]; at < starts[n]; at += n, ++column) {
      if (*column < 0 || *column == std::numeric_limits<std::int64_t>::max()) {
        throw ValueError(
            fmt::format("{}: ngram_indexes has {}, expected column indices", who, *column));
      }
      columns_ = std::max(columns_, *column + 1);
      if (!tree->add(std::span(pool).subspan(at, n), *column)) {
        throw ValueError(fmt::format("{}: the pool has the {}-gram at {} twice", who, n, at));
      }
    }
  }
  return tree;
}

std::vector<ValueDesc> TfIdfVectorizer::infer(const InferContext& context) const {
  const DType dtype = context.dtype(TfIdfVectorizerView::In::X);
  const Shape& shape = context.shape(TfIdfVectorizerView::In::X);
  if (shape.rank() > 2) {
    throw ShapeError(
        fmt::format("{}: X is {}, expected C or NxC tokens", context.who(), to_string(shape)));
  }
  if ((dtype == DType::string) != bool(texts_)) {
    throw TypeError(fmt::format("{}: X is {}, but the pool holds {}", context.who(), name_of(dtype),
                                texts_ ? "texts" : "integers"));
  }
  const Shape y = shape.rank() == 2 ? Shape{shape[0], columns_} : Shape{columns_};
  return {TensorDesc{DType::float32, y}};
}

template <class T, class Token>
std::unique_ptr<Kernel> TfIdfVectorizer::make_kernel(
    PlanContext& context, const std::shared_ptr<const Tree<Token>>& tree) const {
  const Shape& x = context.shape(TfIdfVectorizerView::In::X);
  const std::int64_t rows = x.rank() == 2 ? x[0] : 1;
  const std::int64_t tokens = x.rank() == 0 ? 1 : x[x.rank() - 1];
  context.request_scratch(std::size_t(x.elements()) * sizeof(std::int32_t));
  return detail::forward_kernel([this, tree, rows, tokens](OpContext& run) {
    const T* x = run.input(TfIdfVectorizerView::In::X).data<T>();
    std::int32_t* ids = run.scratch_as<std::int32_t>();
    float* y = run.output(TfIdfVectorizerView::Out::Y).data<float>();
    detail::parallel_for_each(rows, tokens, 1024, [&](std::int64_t r) {
      std::int32_t* row = ids + r * tokens;
      for (std::int64_t i = 0; i < tokens; ++i) row[i] = tree->id(x[r * tokens + i]);
      float* to = y + r * columns_;
      std::fill_n(to, columns_, 0.0f);
      count(*tree, lengths_, {row, std::size_t(tokens)}, to);
      if (mode_ == "IDF") {
        for (float& element : std::span(to, std::size_t(columns_)))
          element = std::min(element, 1.0f);
      }
      for (const auto& [column, weight] : weights_) to[column] *= weight;
    });
  });
}

std::unique_ptr<Kernel> TfIdfVectorizer::plan(PlanContext& context) const {
  if (texts_) return make_kernel<std::string>(context, texts_);
  if (context.dtype(TfIdfVectorizerView::In::X) == DType::int32) {
    return make_kernel<std::int32_t>(context, integers_);
  }
  return make_kernel<std::int64_t>(context, integers_);
}

}  // namespace

void register_tf_idf_vectorizer(OperatorRegistry& registry) {
  registry.add<TfIdfVectorizer, TfIdfVectorizerView>();
}

}  // namespace d5::ops
