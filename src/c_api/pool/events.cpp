// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/pool/guard.hpp"

using namespace scute::core;

extern "C" {

int scute_events(scute_pool* pool, scute_event_fn visit, void* arg) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    if (visit == nullptr) throw failure(SCUTE_E_INVALID, "visit is null");
    for (const scute_event& e : in.s.events.read(in.s)) visit(arg, &e);
  });
}

}  // extern "C"
