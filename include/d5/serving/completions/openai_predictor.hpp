// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// Adds the predictor "openai:ADDRESS/MODEL" to `predictors()`: a client of a server of OpenAI's
/// interface, which answers prompts piece by piece (`TextPredictor`). The token for the server is
/// that of $D5_REMOTE_TOKEN.
///
///     openai:http://localhost:8000/smollm2:most_tokens=64
void add_openai_predictor();

}  // namespace d5
