// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/einsum_equation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr char kDots = '.';

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool has_dots(const std::string& term) { return term.find(kDots) != std::string::npos; }

}  // namespace

EinsumEquation::EinsumEquation(std::string_view text, std::string_view who)
    : text_(text), who_(who) {
  std::string words = text_;
  std::erase(words, ' ');
  std::string_view left = words;
  std::optional<std::string_view> right;
  if (const std::size_t arrow = left.find("->"); arrow != left.npos) {
    right = left.substr(arrow + 2);
    left = left.substr(0, arrow);
  }
  while (true) {
    const std::size_t comma = left.find(',');
    inputs_.push_back(parse_term(left.substr(0, comma)));
    if (comma == left.npos) break;
    left.remove_prefix(comma + 1);
  }
  output_ = right ? parse_term(*right) : implicit_output();
  check_output();
}

EinsumEquation::Term EinsumEquation::parse_term(std::string_view text) const {
  constexpr std::string_view kEllipsisText = "...";
  Term term;
  while (!text.empty()) {
    if (text.starts_with(kEllipsisText) && !has_dots(term)) {
      term += kDots;
      text.remove_prefix(kEllipsisText.size());
    } else if (is_letter(text.front())) {
      term += text.front();
      text.remove_prefix(1);
    } else {
      throw ValueError(
          fmt::format("{}: equation '{}', at '{}': expected letters and at most one ... in each "
                      "term, commas between the terms, and perhaps one -> before the last",
                      who_, printable(text_), printable(text)));
    }
  }
  return term;
}

/// The ellipsis, and each letter that occurs once, in ASCII order.
EinsumEquation::Term EinsumEquation::implicit_output() const {
  Term all;
  for (const Term& term : inputs_) all += term;
  std::ranges::sort(all);  // the dot comes before the letters
  Term result;
  for (std::size_t i = 0; i < all.size();) {
    const std::size_t end = std::min(all.find_first_not_of(all[i], i), all.size());
    if (end - i == 1 || all[i] == kDots) result += all[i];
    i = end;
  }
  return result;
}

void EinsumEquation::check_output() const {
  for (const char letter : output_) {
    const bool known = std::ranges::any_of(
        inputs_, [letter](const Term& term) { return term.find(letter) != term.npos; });
    if (letter != kDots && !known) {
      throw ValueError(fmt::format("{}: equation '{}': the output's {} is in no input", who_,
                                   printable(text_), letter));
    }
    if (std::ranges::count(output_, letter) > 1) {
      throw ValueError(fmt::format("{}: equation '{}': the output has {} twice", who_,
                                   printable(text_), letter));
    }
  }
}

std::vector<EinsumEquation::Label> EinsumEquation::labels(const Term& term,
                                                          std::size_t ellipsis_rank) {
  std::vector<Label> result;
  for (const char letter : term) {
    if (letter != kDots) {
      result.push_back(letter);
      continue;
    }
    for (std::size_t d = 0; d < ellipsis_rank; ++d) result.push_back(kEllipsis + Label(d));
  }
  return result;
}

std::size_t EinsumEquation::ellipsis_rank(const InferContext& context) const {
  std::optional<std::size_t> result;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Term& term = inputs_[i];
    const std::size_t rank = context.shape(i).rank(), letters = term.size() - has_dots(term);
    if (has_dots(term) ? rank < letters : rank != letters) {
      throw ShapeError(fmt::format("{}: input {} is {}, expected {}{} dimensions for equation '{}'",
                                   who_, i, to_string(context.shape(i)),
                                   has_dots(term) ? "at least " : "", letters, printable(text_)));
    }
    if (!has_dots(term)) continue;
    if (result && *result != rank - letters) {
      throw ShapeError(
          fmt::format("{}: the ellipsis is {} dimensions of input {} but {} of one "
                      "before, expected one number for all",
                      who_, rank - letters, i, *result));
    }
    result = rank - letters;
  }
  return result.value_or(0);
}

EinsumIndices EinsumEquation::resolve(const InferContext& context) const {
  if (context.input_count() != inputs_.size()) {
    throw ShapeError(fmt::format("{}: {} inputs are given, but equation '{}' has {} terms", who_,
                                 context.input_count(), printable(text_), inputs_.size()));
  }
  const std::size_t dots = ellipsis_rank(context);
  std::vector<Label> known = labels(output_, dots);
  const std::size_t output_rank = known.size();
  std::vector<EinsumIndex> indices(output_rank);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& x = context.shape(i);
    const auto steps = x.strides();
    const std::vector<Label> own = labels(inputs_[i], dots);
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::size_t place = std::size_t(std::ranges::find(known, own[d]) - known.begin());
      if (place == known.size()) {
        known.push_back(own[d]);
        indices.emplace_back();
      }
      EinsumIndex& index = indices[place];
      // A repeated letter in a term walks its diagonal, and is not broadcast.
      const std::int64_t before = x[std::size_t(std::ranges::find(own, own[d]) - own.begin())];
      if (x[d] != before || (x[d] != index.size && x[d] != 1 && index.size != 1)) {
        throw ShapeError(
            fmt::format("{}: dimension {} of input {} is {}, but equation '{}' says "
                        "that it is one of {}",
                        who_, d, i, x[d], printable(text_), x[d] != before ? before : index.size));
      }
      if (x[d] == 1) continue;
      index.size = x[d];
      index.steps.resize(inputs_.size() + 1);
      index.steps[i] += steps[d];
    }
  }
  Shape y;
  for (std::size_t d = 0; d < output_rank; ++d) y.push_back(indices[d].size);
  if (y.elements() > 0) {
    const auto steps = y.strides();
    for (std::size_t d = 0; d < output_rank; ++d) {
      indices[d].steps.resize(inputs_.size() + 1);
      indices[d].steps.back() = steps[d];
    }
  }
  std::erase_if(indices, [](const EinsumIndex& index) { return index.size == 1; });
  return {std::move(indices), std::move(y)};
}

}  // namespace d5::detail
