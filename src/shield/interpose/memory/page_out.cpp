// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/memory/page_out.hpp"

#include <algorithm>
#include <atomic>

#include "base/locks/waiting.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/memory/memory_limit.hpp"
#include "shield/interpose/process/settings.hpp"

namespace scute::core::interpose {
namespace {

// Limits of one search: pages to evict, and pages to examine, of which few may be present, or many
// may be dirty.
constexpr unsigned pages_at_once = 32, looks_at_once = 65536, loaded_at_once = 128;

// PAGEOUT-2: a call counts itself and then checks whether a thread evicts pages; that thread
// announces it and then checks for calls.
std::atomic<unsigned> calls{0};
std::atomic<bool> going{false};

// Every read() of a program reads this, also those of its allocator before it has memory.
std::atomic<bool> goes{false};

uint64_t taken() noexcept {
  uint64_t sum = 0;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next()) {
    const guarded_file::use now(*f, f->number());
    if (now.is_open()) sum += f->memory();
  }
  return sum;
}

class leave_to_go {
 public:
  leave_to_go() noexcept {
    going.store(true);
    given_ = calls.load() == 0;
  }
  ~leave_to_go() { going.store(false); }
  leave_to_go(const leave_to_go&) = delete;
  leave_to_go& operator=(const leave_to_go&) = delete;
  explicit operator bool() const noexcept { return given_; }

 private:
  bool given_;
};

// Continues where the last search of the file ended, once around the file. Returns how many pages
// were evicted.
unsigned let_go(guarded_file& file, unsigned most) noexcept {
  unsigned gone = 0;
  const uint64_t pages = (file.size() + view::page_size - 1) / view::page_size;
  unsigned loaded = 0;
  for (uint64_t looks = 0; looks < pages && looks < looks_at_once && gone < most; ++looks) {
    const uint64_t page = file.next_to_go(pages);
    if (!file.view().is_loaded(page * view::page_size, 1)) continue;
    if (++loaded > loaded_at_once) break;
    const leave_to_go may;
    if (!may) break;
    gone += file.let_go(page) ? 1 : 0;
  }
  return gone;
}

// Whether at least one byte is in a view.
bool touches_view(uintptr_t at, size_t n) noexcept {
  return mappings.first_in(at, at + std::min(n, UINTPTR_MAX - at)).file != nullptr;
}

}  // namespace

void allow_pages_to_go() noexcept {
  goes.store(asked().page_in && !asked().memory.empty() && asked().memory != "none");
}

bool pages_go() noexcept {
  return goes.load(std::memory_order_relaxed);
}

bool let_pages_go() noexcept {
  if (!pages_go()) return false;
  const uint64_t most = memory_limit(0).bytes();
  if (taken() <= most) return false;
  unsigned wanted = pages_at_once;
  for (guarded_file* f = guarded_file::first(); f != nullptr && wanted != 0; f = f->next()) {
    const guarded_file::use now(*f, f->number());
    if (now.is_open() && f->pages_may_go()) wanted -= let_go(*f, wanted);
  }
  return wanted == 0;
}

pages_stay::pages_stay() noexcept : counts_(pages_go()) {
  if (!counts_) return;
  calls.fetch_add(1);
  for (unsigned spins = 0; going.load();) spin_pause(spins);
}
pages_stay::pages_stay(const void* at, size_t n) noexcept
    : counts_(pages_go() && touches_view(reinterpret_cast<uintptr_t>(at), n)) {
  if (!counts_) return;
  calls.fetch_add(1);
  for (unsigned spins = 0; going.load();) spin_pause(spins);
}
pages_stay::~pages_stay() {
  if (counts_) calls.fetch_sub(1);
}

void forget_staying_pages() noexcept {
  calls.store(0);
  going.store(false);
}

}  // namespace scute::core::interpose
