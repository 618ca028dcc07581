// SPDX-License-Identifier: BSD-3-Clause
// Damage on purpose, for drills.
#include "c_api/pool/guard.hpp"
#include "core/scrub/injection.hpp"

using namespace scute::core;

extern "C" {

void scute_injection_init(scute_injection* injection) {
  if (injection == nullptr) return;
  *injection = {};
  injection->struct_size = sizeof *injection;
  injection->kind = SCUTE_INJURE_FLIP;
  injection->region = SCUTE_REGION_ANY;
  injection->offset = SCUTE_ANYWHERE;
  injection->count = 1;
  injection->bits = 1;
  injection->length = 64;
  injection->seed = 1;
}

int scute_inject(scute_pool* pool, const scute_injection* injection,
                 void (*visit)(void* arg, uint64_t offset, uint64_t length), void* arg,
                 uint64_t* done) {
  const uncancelled now;
  return c_api::guarded(pool, [&] {
    instance& in = c_api::need(pool);
    if (injection == nullptr) throw failure(SCUTE_E_INVALID, "injection is null");
    scute_injection what;
    scute_injection_init(&what);
    if (injection->struct_size < offsetof(scute_injection, rate) ||
        injection->struct_size > size_t{16} * sizeof what)
      throw failure(SCUTE_E_INVALID,
                    "injection->struct_size is not set; call scute_injection_init() on it first");
    std::memcpy(&what, injection, std::min(injection->struct_size, sizeof what));
    std::function<void(uint64_t, uint64_t)> on_injury;
    if (visit != nullptr)
      on_injury = [=](uint64_t offset, uint64_t length) { visit(arg, offset, length); };
    const uint64_t n =
        scrub::inject(in.s, in.heap->zones(), *in.pages, *in.engine, what, on_injury);
    if (done != nullptr) *done = n;
  });
}

}  // extern "C"
