// SPDX-License-Identifier: BSD-3-Clause
// Pools in a simulated memory, as handles of the C interface.
#pragma once

#include <cstddef>

#include "model/simulated_memory.hpp"
#include "scute/scute.h"

namespace scute::testing {

inline constexpr size_t identity_size = 18;  // uuid and tag
// Bytes of a memory after the pool, for its log (testing/pool/simulated_place.hpp).
inline constexpr uint64_t simulated_place_size = (4 + 2 * 256) * 1024;

// Like scute_create() and scute_open(), with the same error codes.
int create_in(model::simulated_memory& m, const scute_options& o, const std::byte* identity,
              scute_pool** pool);
int open_in(model::simulated_memory& m, const scute_options& o, scute_pool** pool);

// Like scute_set_engine(), in an open pool that no thread uses.
int switch_engine(scute_pool* pool, scute_engine to, uint64_t log_cap);

// Makes scute_close() write nothing, like a crash.
void abandon(scute_pool* pool) noexcept;

// Makes deferred parity durable: scute_drain().
void drain(scute_pool* pool);

// Loses the page at this file offset (repair::page_repairer::lose).
void lose_page(scute_pool* pool, uint64_t offset);

// The calling thread takes this lane next, if no other thread has it.
void prefer_lane(unsigned lane) noexcept;

// Sets how many locks the column blocks of all pools share from now on (0: the default); returns
// the previous number. No pool may be open.
unsigned share_locks(unsigned locks) noexcept;
// Sets how many blocks a checkpoint of any pool resolves at once from now on (0: the default);
// returns the previous number. No pool may be open.
uint64_t resolve_at_once(uint64_t blocks) noexcept;

}  // namespace scute::testing
