// SPDX-License-Identifier: Apache-2.0
#pragma once

/// The version of d5; CMake reads it from here.
#define D5_VERSION "0.1.0"
