// SPDX-License-Identifier: BSD-3-Clause
// dump_view.hpp: the output of `scute dump`. The text is stable: golden tests compare it.
#pragma once

#include "open_pool.hpp"
#include "output.hpp"

#include <cstdint>

namespace scute_tool {

struct dump_contents {
  bool pool;  // geometry
  bool regions;
  bool chunks;
  bool objects;
  bool hex;       // with objects: their bytes
  bool stable;    // without what differs between pools that were made alike
  uint32_t type;  // of the objects to show, or SCUTE_TYPE_ANY
};

void dump_as_text(const open_pool& pool, const dump_contents& contents);
void dump_as_json(const open_pool& pool, const dump_contents& contents);

}  // namespace scute_tool
