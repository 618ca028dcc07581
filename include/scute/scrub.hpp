// SPDX-License-Identifier: BSD-3-Clause
//
// scrub.hpp: options and results of pool::scrub().
#ifndef SCUTE_SCRUB_HPP
#define SCUTE_SCRUB_HPP

#include <scute/scute.h>
#include <scute/options.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <string_view>
#include <vector>

namespace scute {

/// One finding of pool::check(): what, file offset and length, the object if it is one (or
/// SCUTE_OID_NULL), and whether it was repaired.
using finding_function = std::function<void(std::string_view what, uint64_t offset, uint64_t length,
                                            scute_oid object, bool repaired)>;

using zone_report = scute_zone_report;  ///< the result of a scrub in one zone; see scute.h

/// How pool::scrub() goes about it; see scute_scrub_options in scute.h. Callbacks may be empty;
/// calls are made one at a time, and must not call into the pool.
struct scrub_options {
  uint32_t threads = 0;  ///< 0: one per CPU that the process may use
  uint64_t rate = 0;     ///< bytes of the pool per second, all threads together; 0: no limit
  bool resume = false;   ///< continue where an interrupted scrub stopped, if there was one
  finding_function finding = {};
  progress_function progress = {};
  std::function<void(const zone_report&)> zone = {};
};

namespace detail {

// Without the callbacks.
inline scute_scrub_options native(const scrub_options& how) {
  scute_scrub_options c;
  scute_scrub_options_init(&c);
  c.threads = how.threads;
  c.rate = how.rate;
  c.resume = how.resume ? 1 : 0;
  return c;
}

// The items that scute_events() visits.
struct event_collector {
  std::vector<event> found;
  std::exception_ptr thrown = nullptr;

  static void add(void* arg, const event* e) noexcept {
    auto* self = static_cast<event_collector*>(arg);
    try {
      self->found.push_back(*e);
    } catch (...) {
      self->thrown = std::current_exception();
    }
  }
};

// Forwards the callbacks of a scrub to its options; an exception of theirs stops it.
struct scrub_callbacks {
  const scrub_options& how;
  scute_pool* pool;
  std::exception_ptr thrown = nullptr;

  template <class F>
  static void guarded(void* arg, F&& call) noexcept {
    auto* self = static_cast<scrub_callbacks*>(arg);
    if (self->thrown) {
      return;
    }
    try {
      call(self->how);
    } catch (...) {
      self->thrown = std::current_exception();
      scute_scrub_stop(self->pool);
    }
  }
  static void find(void* arg, const char* what, uint64_t offset, uint64_t length, scute_oid object,
                   int repaired) noexcept {
    guarded(arg, [&](auto& h) { h.finding(what, offset, length, object, repaired != 0); });
  }
  static void report(void* arg, const char* what, uint64_t done, uint64_t total) noexcept {
    guarded(arg, [&](auto& h) { h.progress(what, done, total); });
  }
  static void end(void* arg, const scute_zone_report* zone) noexcept {
    guarded(arg, [&](auto& h) { h.zone(*zone); });
  }
};

}  // namespace detail
}  // namespace scute

#endif
