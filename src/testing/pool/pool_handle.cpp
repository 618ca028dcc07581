// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/pool_handle.hpp"

#include <cstring>

#include "base/rounding.hpp"
#include "c_api/pool/guard.hpp"
#include "testing/pool/simulated_medium.hpp"
#include "testing/pool/simulated_place.hpp"

namespace scute::testing {
using namespace core;
namespace {

template <typename Make>
int publish(scute_pool** pool, Make&& make) {
  return c_api::guarded([&] {
    auto p = std::make_unique<scute_pool>();
    p->in = make();
    *pool = p.release();
  });
}

}  // namespace

int create_in(model::simulated_memory& m, const scute_options& o, const std::byte* identity,
              scute_pool** pool) {
  return publish(pool, [&] {
    auto in = instance::format(std::make_unique<simulated_medium>(m, 0, o.size), "simulated.pool",
                               o, identity, place_in(m, o.size));
    in->name_log();
    return in;
  });
}

int open_in(model::simulated_memory& m, const scute_options& o, scute_pool** pool) {
  scute_options as_it_is = o;  // a step may have given it another engine
  as_it_is.engine = SCUTE_ENGINE_AUTO;
  as_it_is.log_cap = 0;
  return publish(pool, [&] {
    return instance::attach(std::make_unique<simulated_medium>(m, 0, o.size), "simulated.pool",
                            as_it_is, place_in(m, o.size));
  });
}

int switch_engine(scute_pool* pool, scute_engine to, uint64_t log_cap) {
  return c_api::guarded(
      [&] { pool->in->set_engine(*pool::find_engine(static_cast<uint32_t>(to)), log_cap); });
}

void abandon(scute_pool* pool) noexcept {
  if (pool != nullptr) pool->in->abandon();
}

void drain(scute_pool* pool) {
  if (pool != nullptr) pool->in->drain();
}

void lose_page(scute_pool* pool, uint64_t offset) {
  std::byte noise[core::medium::medium::page];
  uint64_t x = offset | 1;
  for (auto& b : noise) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    b = static_cast<std::byte>(x >> 32);
  }
  pool->in->pages->lose(round_down(offset, core::medium::medium::page), noise);
}

void prefer_lane(unsigned lane) noexcept {
  thread_state& me = this_thread();
  me.take_part();  // gives the thread its ordinal, once
  me.ordinal = lane;
  me.last_pool = 0;
  me.last_lane = -1;
}

unsigned share_locks(unsigned locks) noexcept {
  const unsigned before = pool::stripes::in_use();
  if (locks != 0) pool::stripes::use(locks);
  return before;
}

uint64_t resolve_at_once(uint64_t blocks) noexcept {
  const uint64_t before = pool::resolver::at_once();
  if (blocks != 0) pool::resolver::resolve_at_once(blocks);
  return before;
}

}  // namespace scute::testing
