// SPDX-License-Identifier: BSD-3-Clause
// Pages of a log file that the disk cannot read. A store to a part of such a page makes the kernel
// read the rest first, which fails. So the page is written as a whole, with zeros, before anything
// is stored there.
#pragma once

#include <cstdint>
#include <functional>

#include "core/shared/state.hpp"

namespace scute::core::engine {

// page: its offset in the file.
bool is_readable(const medium::medium& file, uint64_t page) noexcept;

// Streams zeros to the pages of [begin, end) that cannot be read, and calls each(page), if given,
// for them. begin and end are multiples of a page. The content of these pages must not count any
// more, or the caller stores it again. Returns their number. Durable by the writer's fence.
uint64_t renew_lost_pages(medium::writer& w, uint64_t begin, uint64_t end,
                          const std::function<void(uint64_t page)>& each = nullptr);

}  // namespace scute::core::engine
