// SPDX-License-Identifier: BSD-3-Clause
#include "event_list.hpp"

#include "failure.hpp"
#include "text.hpp"

namespace scute_tool {

std::vector<scute_event> list_events(const open_pool& pool) {
  return working_on(pool.path(), [&] { return pool.pool().events(); });
}

json event_json(const scute_event& e) {
  json entry{{"sequence", e.sequence},
             {"time", time_text(e.time_ns)},
             {"time_ns", e.time_ns},
             {"kind", name_of(e.kind)},
             {"outcome", name_of(e.outcome)},
             {"found_by", name_of(e.finder)},
             {"offset", e.offset},
             {"length", e.length}};
  entry["object"] = e.object == SCUTE_OID_NULL ? json() : json(offset_of(e.object));
  entry["count"] = e.count;
  entry["epoch"] = e.epoch;
  entry["dropped"] = e.dropped;
  return entry;
}

}  // namespace scute_tool
