// SPDX-License-Identifier: BSD-3-Clause
#include "c_api/pool/guard.hpp"

using namespace scute::core;

extern "C" {

int scute_recovery_wait(scute_pool* pool, scute_progress_fn progress, void* arg) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    this_thread().refresh();
    if (this_thread().current != nullptr)
      throw failure(SCUTE_E_INVALID,
                    "scute_recovery_wait() inside a transaction; end that one first");
    in.resolving.finish(progress, arg);
  });
}

int scute_recovery_progress(scute_pool* pool, uint64_t* done, uint64_t* total) {
  return c_api::guarded(pool, [&] {
    const instance& in = c_api::need(pool);
    const auto work = in.s.resolving->done();
    const uint64_t width = (uint64_t{in.s.geo.rows} + in.s.geo.parity) * format::page;
    if (done != nullptr) *done = work.resolved * width;
    if (total != nullptr) *total = work.blocks * width;
  });
}

int scute_drain(scute_pool* pool) {
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    in.drain();
    in.s.require_healthy();
  });
}

}  // extern "C"
