// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/deepbench.hpp"

int main(int argc, char** argv) {
  return d5::benchmarks::run_deepbench("conv-training", argc, argv);
}
