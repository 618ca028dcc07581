// SPDX-License-Identifier: BSD-3-Clause
// Pools in a simulated memory, as handles of the C interface.
#pragma once

#include <cstddef>

#include "model/simulated_memory.hpp"
#include "scute/scute.h"

namespace scute::testing {

inline constexpr size_t identity_size = 18;  // uuid and tag
// Bytes of a memory behind the pool that make a place for its log
// (testing/pool/simulated_place.hpp).
inline constexpr uint64_t simulated_place_size = (4 + 2 * 256) * 1024;

// As scute_create() and scute_open() would; the error codes are theirs.
int create_in(model::simulated_memory& m, const scute_options& o, const std::byte* identity,
              scute_pool** pool);
int open_in(model::simulated_memory& m, const scute_options& o, scute_pool** pool);

// As scute_set_engine() would, in an open pool that nobody uses.
int switch_engine(scute_pool* pool, scute_engine to, uint64_t log_cap);

// Makes scute_close() write nothing: what a crash does.
void abandon(scute_pool* pool) noexcept;

// Makes deferred parity durable: scute_drain().
void drain(scute_pool* pool);

// Loses the page at this file offset (repair::page_repairer::lose).
void lose_page(scute_pool* pool, uint64_t offset);

// The calling thread takes this lane next, if nobody else has it.
void prefer_lane(unsigned lane) noexcept;

// How many locks the column blocks of all pools share from now on (0: as many as before); returns
// how many they did. No pool may be open.
unsigned share_locks(unsigned locks) noexcept;
// How many blocks a checkpoint of any pool resolves from now on (0: as many as before); returns how
// many one did. No pool may be open.
uint64_t resolve_at_once(uint64_t blocks) noexcept;

}  // namespace scute::testing
