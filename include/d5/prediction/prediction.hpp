// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/network_description.hpp"
