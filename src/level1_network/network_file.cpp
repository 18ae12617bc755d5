// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network.hpp"
#include "d5/onnx/file.hpp"

namespace d5 {

Network Network::load(const std::string& path) { return Network(onnx::load(path)); }

void Network::save(const std::string& path) const { onnx::save(model(), path); }

}  // namespace d5
