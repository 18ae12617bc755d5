// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/closed_cost.hpp"
#include "d5/prediction/network_description.hpp"
#include "d5/prediction/operation_graph.hpp"
#include "d5/prediction/operation_graph_file.hpp"
#include "d5/prediction/operation_kind.hpp"
#include "d5/prediction/operation_schedule.hpp"
#include "d5/prediction/overlap_analysis.hpp"
#include "d5/prediction/overlap_grid.hpp"
#include "d5/prediction/profile_from_cost.hpp"
#include "d5/prediction/profile_table.hpp"
#include "d5/prediction/profile_training.hpp"
#include "d5/prediction/training_graph.hpp"
#include "d5/prediction/training_profile.hpp"
