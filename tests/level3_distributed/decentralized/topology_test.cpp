// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/schemes/topology.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

// Eigenvalues of matrices of this size are exact to a few roundings.
constexpr double kExact = 1e-13;

MixingMatrix topology(const std::string& name, int ranks) {
  return topologies().at(name).make(ranks);
}

/// The eigenvalues of a matrix that is the same seen from each rank are its row's Fourier sums.
double second_of_circulant(int n, const std::vector<int>& distances) {
  double largest = 0;
  for (int k = 1; k < n; ++k) {
    double sum = 1;
    for (const int d : distances) sum += std::cos(2 * std::numbers::pi * k * d / n);
    largest = std::max(largest, std::abs(sum / double(distances.size() + 1)));
  }
  return largest;
}

/// A file of this rank.
std::string written(const std::string& text) {
  static const testing::TemporaryFolder folder;
  const std::string path = (folder.path() / "edges.txt").string();
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST_CASE("a ring's ranks take thirds, two ranks halves, and one everything") {
  const MixingMatrix ring = topology("ring", 5);
  CHECK(ring(0, 1) == Approx(1.0 / 3));
  CHECK(ring(0, 4) == Approx(1.0 / 3));
  CHECK(ring(0, 2) == 0);
  CHECK(ring.neighbors(0) == std::vector<int>{1, 4});
  CHECK(topology("ring", 2)(0, 1) == 0.5);
  CHECK(topology("ring", 1)(0, 0) == 1);
  CHECK(topology("ring", 1).second_eigenvalue() == 0);
}

TEST_CASE("second eigenvalues are those of closed forms") {
  for (const int n : {3, 4, 5, 8, 17}) {
    CAPTURE(n);
    CHECK(topology("ring", n).second_eigenvalue() ==
          Approx(second_of_circulant(n, {1, n - 1})).margin(kExact));
    CHECK(topology("complete", n).second_eigenvalue() == Approx(0).margin(kExact));
    // Two leaves that differ keep 1 - 1/n of it.
    CHECK(topology("star", n).second_eigenvalue() == Approx(1 - 1.0 / n).margin(kExact));
  }
  CHECK(topology("ring", 4).least_eigenvalue() == Approx(-1.0 / 3).margin(kExact));
  CHECK(topology("exponential", 8).second_eigenvalue() ==
        Approx(second_of_circulant(8, {1, 7, 2, 6, 4})).margin(kExact));
  // Eigenvalues of a cube of d bits: (1 + d - 2 k) / (1 + d), for k bits in the eigenvector's sign.
  CHECK(topology("hypercube", 8).second_eigenvalue() == Approx(0.5).margin(kExact));
  CHECK(topology("torus", 9).second_eigenvalue() ==
        Approx((3 + 2 * std::cos(2 * std::numbers::pi / 3)) / 5).margin(kExact));
  CHECK(topology("torus", 6).neighbors(0) == std::vector<int>{1, 2, 3});
  CHECK(topology("ring", 4).lazy().least_eigenvalue() == Approx(1.0 / 3).margin(kExact));
}

TEST_CASE("every topology has rows that sum to 1 for every number of ranks that it can have") {
  for (const auto& [name, entry] : topologies().entries()) {
    if (name == "file") continue;
    for (int n = 1; n <= 17; ++n) {
      CAPTURE(name, n);
      if (name == "hypercube" && (n & (n - 1)) != 0) {
        CHECK_THROWS_WITH(entry.make(n), Catch::Contains("power of 2"));
        continue;
      }
      CHECK(entry.make(n).second_eigenvalue() < 1);
    }
  }
}

TEST_CASE("a file's edges get Metropolis weights") {
  const std::string path = written("# a path\n0 1\n\n 1 2 # and on\n2 1\n");
  const MixingMatrix w = topologies().at("file").make(3, {{"path", path}});
  CHECK(w(0, 1) == Approx(1.0 / 3));
  CHECK(w(0, 0) == Approx(2.0 / 3));
  CHECK(w(0, 2) == 0);
  CHECK(w(1, 1) == Approx(1.0 / 3));
}

TEST_CASE("a file that is missing, malformed or without edges is refused, with its line") {
  const auto made = [](const std::string& text, int ranks) {
    return topologies().at("file").make(ranks, {{"path", written(text)}});
  };
  CHECK_THROWS_AS(topologies().at("file").make(3, {{"path", "nowhere.txt"}}), IoError);
  CHECK_THROWS_WITH(made("0 1\n1 two\n", 3), Catch::Contains(":2: '1 two' is not an edge"));
  CHECK_THROWS_WITH(made("0 1 2\n", 3), Catch::Contains("not an edge"));
  CHECK_THROWS_WITH(made("0 3\n", 3), Catch::Contains("ranks 0 to 2"));
  CHECK_THROWS_AS(made("0 -1\n", 3), ValueError);
  CHECK_THROWS_WITH(made("0 2\n1 3\n", 4),
                    Catch::Contains("ranks 0, 2 are not connected to the others"));
}

TEST_CASE("a matrix that would not keep the mean is refused by its row") {
  CHECK_THROWS_AS(MixingMatrix(2, {1, 0, 0}), ShapeError);
  CHECK_THROWS_WITH(MixingMatrix(2, {0.5, 0.5, 0.5, 0.4}), Catch::Contains("row 1 sum to 0.9"));
  CHECK_THROWS_WITH(MixingMatrix(2, {0.5, 0.5, 0.4, 0.6}), Catch::Contains("make it symmetric"));
  CHECK_THROWS_WITH(MixingMatrix(2, {1.5, -0.5, -0.5, 1.5}), Catch::Contains("negative"));
  CHECK_THROWS_WITH(MixingMatrix(2, {NAN, 0.5, 0.5, 0.5}), Catch::Contains("row 0"));
  CHECK_THROWS_WITH(MixingMatrix(2, {1, 0, 0, 1}), Catch::Contains("ranks 0 are not connected"));
}
