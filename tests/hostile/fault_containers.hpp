// SPDX-License-Identifier: BSD-3-Clause
// A root object with a container of each kind, changed through the C++ interface, whose headers do
// not go together with the core's in one source file. All results are codes of scute.h.
#pragma once

#include <cstdint>
#include <string>

#include "scute/scute.h"

namespace scute::test {

inline constexpr uint64_t containers_size = 256;  // of the root; a counter of 8 bytes comes first

void fill_containers(scute_pool* pool);
std::string contents_of_containers(scute_pool* pool, scute_oid root);

// One transaction each, with splits, merges and growth.
int change_hash_map(scute_pool* pool);
int change_ordered_map(scute_pool* pool);
int change_vector(scute_pool* pool);
int change_queue(scute_pool* pool);
int change_string(scute_pool* pool);
int clear_containers(scute_pool* pool);

}  // namespace scute::test
