// SPDX-License-Identifier: BSD-3-Clause
// Pages of a log file that the disk does not give back. Whoever stores to a part of one makes the
// kernel read the rest first, and fails: so such a page is written as a whole, with zeros, before
// anything is stored there.
#pragma once

#include <cstdint>
#include <functional>

#include "pool/state.hpp"

namespace scute::core::engine {

// page: its offset in the file.
bool is_readable(const medium::medium& file, uint64_t page) noexcept;

// Streams zeros to the pages of [begin, end) that cannot be read, both multiples of a page, and
// calls each(page), if any, for them. Nothing of what they held counts any more, or it is known and
// stored again. Returns how many there were. Durable by the writer's fence.
uint64_t renew_lost_pages(medium::writer& w, uint64_t begin, uint64_t end,
                          const std::function<void(uint64_t page)>& each = nullptr);

}  // namespace scute::core::engine
