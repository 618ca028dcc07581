// SPDX-License-Identifier: BSD-3-Clause
#include <cstring>

#include "c_api/pool/guard.hpp"

using namespace scute::core;

namespace {

scute_scrub_options normalise(const scute_scrub_options* given) {
  scute_scrub_options o;
  scute_scrub_options_init(&o);
  if (given == nullptr) return o;
  if (given->struct_size < offsetof(scute_scrub_options, finding) ||
      given->struct_size > size_t{4} * sizeof o)
    throw failure(SCUTE_E_INVALID,
                  "options->struct_size is not set; call scute_scrub_options_init() on them first");
  std::memcpy(&o, given, std::min(given->struct_size, sizeof o));
  if (o.threads > 1024) throw failure(SCUTE_E_INVALID, "options->threads is more than 1024");
  return o;
}

void outside_of_transactions(const char* call) {
  this_thread().refresh();
  if (this_thread().current != nullptr)
    throw failure(SCUTE_E_INVALID, std::string(call) + " inside a transaction; end that one first");
}

}  // namespace

extern "C" {

void scute_scrub_options_init(scute_scrub_options* options) {
  if (options == nullptr) return;
  std::memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
}

int scute_scrub(scute_pool* pool, const scute_scrub_options* options, scute_report* report) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    scute_report r{};
    const scute_scrub_options o = normalise(options);
    outside_of_transactions("scute_scrub()");
    c_api::copy_out(report, r, "report");  // complains before a long run, not after it
    in.scrubs.run(o, r);
    c_api::copy_out(report, r, "report");
  });
}

int scute_scrub_start(scute_pool* pool, const scute_scrub_options* options) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    in.scrubs.start(normalise(options));
  });
}

int scute_scrub_wait(scute_pool* pool, scute_report* report) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    scute_report r{};
    if (report != nullptr) c_api::copy_out(report, r, "report");
    outside_of_transactions("scute_scrub_wait()");
    in.scrubs.wait(r);
    if (report != nullptr) c_api::copy_out(report, r, "report");
  });
}

void scute_scrub_stop(scute_pool* pool) {
  if (pool != nullptr && !c_api::inherited(pool)) pool->in->scrubs.stop();
}

}  // extern "C"
