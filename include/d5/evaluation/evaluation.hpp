// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/canonical_json.hpp"
