// SPDX-License-Identifier: BSD-3-Clause
// The connection to the supervisor (shield/supervisor/wire.hpp). Without one, and after it has
// died, everything works except what only a supervisor can do: keep a view over the death of its
// program.
#pragma once

#include <cstdint>
#include <string>

#include "scute/shield_run.h"

namespace scute::core::interpose {

// All of these are called in a critical section.
//
// claim_file(): the supervisor has written back what ended programs have left for the file, and
// keeps it from now on (SUPLOCK-1); or there is no supervisor. Returns false with errno if it
// cannot (EBUSY: another supervisor keeps the file), or there is no room for a connection to it.

// The supervisor has written back what ended programs have left of the file, and keeps it from now
// on (SUPLOCK-1); or there is no supervisor. False with errno: it cannot (EBUSY: another supervisor
// keeps the file), or there is no room for a connection to it.
bool claim_file(const std::string& path, uint64_t device, uint64_t inode) noexcept;
// Returns false if no supervisor holds it.
bool hand_over_view(uint32_t number, const std::string& path, uint64_t device, uint64_t inode,
                    int head, int bytes) noexcept;
// The file was not opened after all.
void disclaim_file(uint64_t device, uint64_t inode) noexcept;
bool has_supervisor() noexcept;
void release_view(uint32_t number, const scute_shield_counts& audit) noexcept;

// The file whose view has these bytes, if no process has that view any more; or nothing.
std::string owner_of(uint64_t device, uint64_t inode);

void close_link_in_child() noexcept;

}  // namespace scute::core::interpose
