// SPDX-License-Identifier: BSD-3-Clause
// pool_facts.hpp: the facts that `scute create` and `scute info` print about a pool, and their
// reasons.
#pragma once

#include "output.hpp"
#include "text.hpp"

#include <scute/scute.h>

#include <cstdint>
#include <string>

namespace scute_tool {

// The options with which the pool was made, and how this machine reaches it.
fact_sheet geometry_facts(const std::string& path, const scute_info& info);
json geometry_json(const std::string& path, const scute_info& info);

// A sparse pool may be larger than the free space of its file system. That shows only when it is
// used, so this says it on stderr.
void warn_of_little_room(const std::string& path, uint64_t size);

// How the last session ended and what this one had to repair.
void add_session_facts(fact_sheet& facts, const scute_info& info);
void add_session_json(json& document, const scute_info& info);

// The mark of a pool that was opened without its log; nothing for any other one.
void add_lost_log(fact_sheet& facts, const scute_info& info);
json lost_log_json(const scute_info& info);

}  // namespace scute_tool
