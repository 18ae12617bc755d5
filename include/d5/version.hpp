// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of d5. CMake and pyproject.toml read it here; the test house/version holds the pages
/// that name it (CHANGELOG.md, CITATION.cff, docs/guide/tour.md) against it.
#define D5_VERSION "0.2.0"
