// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/pool_handle.hpp"

#include <cstring>

#include "base/rounding.hpp"
#include "capi/guard.hpp"
#include "medium/medium.hpp"

namespace scute::testing {
using namespace core;
namespace {

class simulated_medium final : public medium::medium {
 public:
  explicit simulated_medium(model::simulated_memory& m) : memory_(m) {
    base_ = m.bytes().data();
    size_ = m.bytes().size();
    kind_ = scute::core::medium::kind::simulated;
    eadr_ = m.eadr();
  }
  // The memory outlives the medium, and belongs to everybody again then.
  ~simulated_medium() override { memory_.unprotect(); }
  const char* flush_name() const noexcept override { return "simulated"; }

  void lose_page(uint64_t offset, const std::byte* noise) noexcept override {
    if (memory_.listener != nullptr) memory_.listener->before(offset, page);
    std::memcpy(base_ + offset, noise, page);
    memory_.touch(offset, page);
    if (memory_.listener != nullptr) memory_.listener->damaged(offset, page);
    revoke_page(offset);
  }
  void revoke_page(uint64_t offset) noexcept override {
    note_revoked(offset, true);
    memory_.protect(offset);
  }
  // Another thread may run before this begins, and none before the page is whole.
  bool restore_page(scute::core::medium::writer& w, uint64_t offset,
                    const std::byte* bytes) noexcept override {
    if (memory_.listener != nullptr) memory_.listener->before(offset, page);
    memory_.unprotect(offset);
    std::memcpy(base_ + offset, bytes, page);
    note_revoked(offset, false);
    memory_.touch(offset, page);
    if (memory_.listener != nullptr) memory_.listener->streamed(offset, page, number_of(w));
    do_fence(w);
    return true;
  }

 protected:
  void do_stream(scute::core::medium::writer& w, void* dst, const void* src,
                 size_t n) noexcept override {
    memory_.stream(offset_of(dst), src, n, number_of(w));
  }
  void do_flush(scute::core::medium::writer& w, const void* p, size_t n) noexcept override {
    // A write-back of a page that is out of reach faults as a load does.
    if (memory_.is_protected(offset_of(p)))
      static_cast<void>(*static_cast<const volatile char*>(p));
    memory_.flush(offset_of(p), n, number_of(w));
  }
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    memory_.store(offset_of(dst), src, n);
  }
  void do_fence(scute::core::medium::writer& w) noexcept override { memory_.fence(number_of(w)); }

 private:
  uint64_t offset_of(const void* p) const noexcept {
    return static_cast<uint64_t>(static_cast<const std::byte*>(p) - base_);
  }
  unsigned number_of(const scute::core::medium::writer& w) {
    for (const auto& [writer, number] : writers_)
      if (writer == &w) return number;
    writers_.push_back({&w, memory_.next_writer()});
    return writers_.back().number;
  }

  struct numbered {
    const scute::core::medium::writer* writer;
    unsigned number;
  };
  model::simulated_memory& memory_;
  std::vector<numbered> writers_;
};

template <typename Make>
int publish(scute_pool** pool, Make&& make) {
  return capi::guarded([&] {
    auto p = std::make_unique<scute_pool>();
    p->in = make();
    *pool = p.release();
  });
}

}  // namespace

int create_in(model::simulated_memory& m, const scute_options& o, const std::byte* identity,
              scute_pool** pool) {
  return publish(pool, [&] {
    return instance::format(std::make_unique<simulated_medium>(m), "simulated.pool", o, identity);
  });
}

int open_in(model::simulated_memory& m, const scute_options& o, scute_pool** pool) {
  return publish(pool, [&] {
    return instance::attach(std::make_unique<simulated_medium>(m), "simulated.pool", o);
  });
}

void abandon(scute_pool* pool) noexcept {
  if (pool != nullptr) pool->in->abandon();
}

void drain(scute_pool* pool) noexcept {
  if (pool != nullptr) pool->in->drain();
}

void lose_page(scute_pool* pool, uint64_t offset) {
  std::byte noise[medium::medium::page];
  uint64_t x = offset | 1;
  for (auto& b : noise) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    b = static_cast<std::byte>(x >> 32);
  }
  pool->in->pages->lose(round_down(offset, medium::medium::page), noise);
}

void prefer_lane(unsigned lane) noexcept {
  thread_state& me = this_thread();
  me.take_part();  // which gives the thread an ordinal of its own, once
  me.ordinal = lane;
  me.last_pool = 0;
  me.last_lane = -1;
}

unsigned share_locks(unsigned locks) noexcept {
  const unsigned before = pool::stripes::in_use();
  if (locks != 0) pool::stripes::use(locks);
  return before;
}

}  // namespace scute::testing
