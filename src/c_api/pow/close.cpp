// SPDX-License-Identifier: BSD-3-Clause
// The end of an open store, and handles that outlive it (calls.hpp).
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "c_api/pow/handles.hpp"

using namespace scute::core;

namespace scute::core::c_api {

int refuse_closed() noexcept {
  return fail(SCUTE_E_INVALID, closed_message);
}

namespace {

// The calls and sections of other threads get this time to end. Further ones wait meanwhile.
constexpr std::chrono::milliseconds close_waits{500};

// The caller holds close_lock. Null: it was closed before.
std::unique_ptr<pow::store> take_out(scute_pow& p) {
  if (p.calls.is_closed()) return nullptr;
  pow::state& s = p.in->parts();
  if (pow::section::of_thread(s) != nullptr)
    throw failure(SCUTE_E_INVALID, "this thread has a section of the store open");
  const auto until = std::chrono::steady_clock::now() + close_waits;
  const auto now = p.calls.close([&] { return !s.is_in_use(); },
                                 [&] { return std::chrono::steady_clock::now() >= until; });
  if (now != store_calls::outcome::closed)
    throw failure(SCUTE_E_BUSY, (now == store_calls::outcome::objects
                                     ? "another thread has a section of " + s.name + " open"
                                     : "a call on " + s.name + " has not returned") +
                                    "; close it when all have ended");
  p.parts.store(nullptr, std::memory_order_release);
  return std::move(p.in);
}

void drop(scute_pow* store) noexcept {
  if (store->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) delete store;
}

}  // namespace
}  // namespace scute::core::c_api

using namespace scute::core::c_api;

extern "C" {

int scute_pow_close(scute_pow* store) {
  if (store == nullptr) return SCUTE_OK;
  if (inherited(store)) return SCUTE_OK;  // nothing of it can be taken down here
  const uncancelled now;
  int result = SCUTE_OK;
  {
    const locked alone(store->close_lock);
    std::unique_ptr<pow::store> end;
    result = guarded([&] { end = take_out(*store); });
    if (end == nullptr) return result;
    result = guarded([&] {
      end->end_background();
      end->close();
    });
  }
  drop(store);
  return result;
}

int scute_pow_keep(scute_pow* store) {
  if (inherited(store)) return refuse_inherited();
  return guarded([&] { need(store).holders.fetch_add(1, std::memory_order_relaxed); });
}

void scute_pow_drop(scute_pow* store) {
  if (store == nullptr || inherited(store)) return;
  const uncancelled now;
  drop(store);
}

}  // extern "C"
