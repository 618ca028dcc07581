// SPDX-License-Identifier: BSD-3-Clause
// event_list.hpp: the events that a pool keeps.
#pragma once

#include "open_pool.hpp"
#include "output.hpp"

#include <vector>

namespace scute_tool {

// Oldest first. Throws failure.
std::vector<scute_event> list_events(const open_pool& pool);

json event_json(const scute_event& event);

}  // namespace scute_tool
