// SPDX-License-Identifier: Apache-2.0
#include "evaluation/generation/token_losses.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "evaluation/generation/decoder_form.hpp"

namespace d5::detail {

std::vector<double> token_losses(GraphExecutor& executor, std::span<const TokenId> text) {
  const DecoderForm form = decoder_form(executor.network());
  const auto count = std::int64_t(text.size()) - 1;
  if (count < 1 || count > form.rows) {
    throw ValueError(
        fmt::format("loss: the text has {} tokens, expected 2 to {}, the rows of the caches and "
                    "one; give the network more capacity",
                    text.size(), form.rows + 1));
  }
  expect_tokens(text, form, "text");
  ValueMap inputs = decoder_inputs(form, count, count);
  std::ranges::copy(text.first(std::size_t(count)),
                    inputs.at("tokens").tensor().data<std::int64_t>());
  auto* place = inputs.at("places").tensor().data<std::int64_t>();
  for (std::int64_t i = 0; i < count; ++i) place[i] = i;
  const Tensor& logits = executor.inference(inputs).at("logits").tensor();
  const auto vocabulary = std::size_t(form.vocabulary);
  const std::span<const float> scores = logits.span<float>();
  std::vector<double> losses;
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    losses.push_back(token_loss(scores.subspan(i * vocabulary, vocabulary), text[i + 1]));
  }
  return losses;
}

}  // namespace d5::detail
