// SPDX-License-Identifier: BSD-3-Clause
// objects.hpp: the bytes of all objects of a table, whatever program wrote them.
#pragma once

#include "pow/store_file.hpp"

#include <functional>
#include <span>

namespace scute_tool {

struct object {
  uint64_t id;
  std::span<const unsigned char> bytes;

  uint64_t index() const { return id & SCUTE_POW_INDEX_MASK; }
};

// Once per table. Throws failure.
void for_each_object(store_file& file, const scute_pow_table_info& table,
                     const std::function<void(const object&)>& fn);

}  // namespace scute_tool
