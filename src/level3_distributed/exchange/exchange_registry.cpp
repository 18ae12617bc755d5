// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"

namespace d5 {
namespace exchange {
void register_all(Registry<GradientExchangeEntry>& registry);
}

Registry<GradientExchangeEntry>& gradient_exchanges() {
  static Registry<GradientExchangeEntry> registry("gradient exchange", exchange::register_all);
  return registry;
}

}  // namespace d5
